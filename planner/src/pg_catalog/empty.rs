//! Views of PostgreSQL over what does not exist here (triggers, policies, foreign tables, …):
//! they have its columns and no rows.

use super::definition::{Definition, Fill};

/// The views without rows.
pub(super) const VIEWS: &[Definition] = &[
    Definition {
        oid: 2600,
        name: "pg_catalog.pg_aggregate",
        columns: "aggfnoid regproc=0, aggkind char=, aggnumdirectargs int2=0, aggtransfn regproc=0, aggfinalfn regproc=0, \
              aggcombinefn regproc=0, aggserialfn regproc=0, aggdeserialfn regproc=0, aggmtransfn regproc=0, \
              aggminvtransfn regproc=0, aggmfinalfn regproc=0, aggfinalextra bool=f, aggmfinalextra bool=f, \
              aggfinalmodify char=, aggmfinalmodify char=, aggsortop oid=0, aggtranstype oid=0, aggtransspace int4=0, \
              aggmtranstype oid=0, aggmtransspace int4=0, agginitval text, aggminitval text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2602,
        name: "pg_catalog.pg_amop",
        columns: "oid oid=0, amopfamily oid=0, amoplefttype oid=0, amoprighttype oid=0, amopstrategy int2=0, amoppurpose \
              char=, amopopr oid=0, amopmethod oid=0, amopsortfamily oid=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2603,
        name: "pg_catalog.pg_amproc",
        columns: "oid oid=0, amprocfamily oid=0, amproclefttype oid=0, amprocrighttype oid=0, amprocnum int2=0, amproc \
              regproc=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12081,
        name: "pg_catalog.pg_available_extensions",
        columns: "name name, default_version text, installed_version text, comment text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2607,
        name: "pg_catalog.pg_conversion",
        columns: "oid oid=0, conname name=, connamespace oid=0, conowner oid=0, conforencoding int4=0, contoencoding \
              int4=0, conproc regproc=0, condefault bool=f",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2964,
        name: "pg_catalog.pg_db_role_setting",
        columns: "setdatabase oid=0, setrole oid=0, setconfig text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 826,
        name: "pg_catalog.pg_default_acl",
        columns: "oid oid=0, defaclrole oid=0, defaclnamespace oid=0, defaclobjtype char=, defaclacl text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3466,
        name: "pg_catalog.pg_event_trigger",
        columns: "oid oid=0, evtname name=, evtevent name=, evtowner oid=0, evtfoid oid=0, evtenabled char=, evttags \
              text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3079,
        name: "pg_catalog.pg_extension",
        columns: "oid oid=0, extname name=, extowner oid=0, extnamespace oid=0, extrelocatable bool=f, extversion text=, \
              extconfig oid[], extcondition text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2328,
        name: "pg_catalog.pg_foreign_data_wrapper",
        columns: "oid oid=0, fdwname name=, fdwowner oid=0, fdwhandler oid=0, fdwvalidator oid=0, fdwacl text[], \
              fdwoptions text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 1417,
        name: "pg_catalog.pg_foreign_server",
        columns: "oid oid=0, srvname name=, srvowner oid=0, srvfdw oid=0, srvtype text, srvversion text, srvacl text[], \
              srvoptions text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3118,
        name: "pg_catalog.pg_foreign_table",
        columns: "ftrelid oid=0, ftserver oid=0, ftoptions text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12010,
        name: "pg_catalog.pg_group",
        columns: "groname name, grosysid oid, grolist oid[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2611,
        name: "pg_catalog.pg_inherits",
        columns: "inhrelid oid=0, inhparent oid=0, inhseqno int4=0, inhdetachpending bool=f",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3394,
        name: "pg_catalog.pg_init_privs",
        columns: "objoid oid=0, classoid oid=0, objsubid int4=0, privtype char=, initprivs text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2995,
        name: "pg_catalog.pg_largeobject_metadata",
        columns: "oid oid=0, lomowner oid=0, lomacl text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12073,
        name: "pg_catalog.pg_locks",
        columns: "locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text, transactionid int8, \
              classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4, mode text, granted bool, \
              fastpath bool, waitstart timestamptz",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12038,
        name: "pg_catalog.pg_matviews",
        columns: "schemaname name, matviewname name, matviewowner name, tablespace name, hasindexes bool, ispopulated \
              bool, definition text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2753,
        name: "pg_catalog.pg_opfamily",
        columns: "oid oid=0, opfmethod oid=0, opfname name=, opfnamespace oid=0, opfowner oid=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3350,
        name: "pg_catalog.pg_partitioned_table",
        columns: "partrelid oid=0, partstrat char=, partnatts int2=0, partdefid oid=0, partattrs int2vector, partclass oidvector, \
              partcollation oidvector, partexprs text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12018,
        name: "pg_catalog.pg_policies",
        columns: "schemaname name, tablename name, policyname name, permissive text, roles name[], cmd text, qual text, \
              with_check text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3256,
        name: "pg_catalog.pg_policy",
        columns: "oid oid=0, polname name=, polrelid oid=0, polcmd char=, polpermissive bool=f, polroles oid[], polqual \
              text, polwithcheck text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12095,
        name: "pg_catalog.pg_prepared_statements",
        columns: "name text, statement text, prepare_time timestamptz, parameter_types regtype[], from_sql bool, \
              generic_plans int8, custom_plans int8",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12090,
        name: "pg_catalog.pg_prepared_xacts",
        columns: "transaction int8, gid text, prepared timestamptz, owner name, database name",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 6104,
        name: "pg_catalog.pg_publication",
        columns: "oid oid=0, pubname name=, pubowner oid=0, puballtables bool=f, pubinsert bool=f, pubupdate bool=f, \
              pubdelete bool=f, pubtruncate bool=f, pubviaroot bool=f",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 6237,
        name: "pg_catalog.pg_publication_namespace",
        columns: "oid oid=0, pnpubid oid=0, pnnspid oid=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 6106,
        name: "pg_catalog.pg_publication_rel",
        columns: "oid oid=0, prpubid oid=0, prrelid oid=0, prqual text, prattrs int2vector",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3541,
        name: "pg_catalog.pg_range",
        columns: "rngtypid oid=0, rngsubtype oid=0, rngmultitypid oid=0, rngcollation oid=0, rngsubopc oid=0, rngcanonical \
              regproc=0, rngsubdiff regproc=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3596,
        name: "pg_catalog.pg_seclabel",
        columns: "objoid oid=0, classoid oid=0, objsubid int4=0, provider text=, label text=",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12099,
        name: "pg_catalog.pg_seclabels",
        columns: "objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text, provider text, \
              label text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 1214,
        name: "pg_catalog.pg_shdepend",
        columns: "dbid oid=0, classid oid=0, objid oid=0, objsubid int4=0, refclassid oid=0, refobjid oid=0, deptype char=",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12266,
        name: "pg_catalog.pg_stat_database",
        columns: "datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8, blks_read int8, \
              blks_hit int8, tup_returned int8, tup_fetched int8, tup_inserted int8, tup_updated int8, tup_deleted \
              int8, conflicts int8, temp_files int8, temp_bytes int8, deadlocks int8, checksum_failures int8, \
              checksum_last_failure timestamptz, blk_read_time float8, blk_write_time float8, session_time float8, \
              active_time float8, idle_in_transaction_time float8, sessions int8, sessions_abandoned int8, \
              sessions_fatal int8, sessions_killed int8, stats_reset timestamptz",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12161,
        name: "pg_catalog.pg_stat_user_tables",
        columns: "relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8, idx_tup_fetch \
              int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup \
              int8, n_mod_since_analyze int8, n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum \
              timestamptz, last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count \
              int8, analyze_count int8, autoanalyze_count int8",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3381,
        name: "pg_catalog.pg_statistic_ext",
        columns: "oid oid=0, stxrelid oid=0, stxname name=, stxnamespace oid=0, stxowner oid=0, stxstattarget int4=0, \
              stxkeys int2vector, stxkind char[], stxexprs text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12053,
        name: "pg_catalog.pg_stats",
        columns: "schemaname name, tablename name, attname name, inherited bool, null_frac float4, avg_width int4, \
              n_distinct float4, most_common_vals text, most_common_freqs real[], histogram_bounds text, correlation \
              float4, most_common_elems text, most_common_elem_freqs real[], elem_count_histogram real[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 6100,
        name: "pg_catalog.pg_subscription",
        columns: "oid oid=0, subdbid oid=0, subskiplsn text=0, subname name=, subowner oid=0, subenabled bool=f, subbinary \
              bool=f, substream bool=f, subtwophasestate char=, subdisableonerr bool=f, subconninfo text=, subslotname \
              name, subsynccommit text=, subpublications text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12126,
        name: "pg_catalog.pg_timezone_names",
        columns: "name text, abbrev text, utc_offset text, is_dst bool",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3576,
        name: "pg_catalog.pg_transform",
        columns: "oid oid=0, trftype oid=0, trflang oid=0, trffromsql regproc=0, trftosql regproc=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 2620,
        name: "pg_catalog.pg_trigger",
        columns: "oid oid=0, tgrelid oid=0, tgparentid oid=0, tgname name=, tgfoid oid=0, tgtype int2=0, tgenabled char=, \
              tgisinternal bool=f, tgconstrrelid oid=0, tgconstrindid oid=0, tgconstraint oid=0, tgdeferrable bool=f, \
              tginitdeferred bool=f, tgnargs int2=0, tgattr int2vector, tgargs bytea, tgqual text, tgoldtable name, \
              tgnewtable name",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3602,
        name: "pg_catalog.pg_ts_config",
        columns: "oid oid=0, cfgname name=, cfgnamespace oid=0, cfgowner oid=0, cfgparser oid=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3600,
        name: "pg_catalog.pg_ts_dict",
        columns: "oid oid=0, dictname name=, dictnamespace oid=0, dictowner oid=0, dicttemplate oid=0, dictinitoption text",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3601,
        name: "pg_catalog.pg_ts_parser",
        columns: "oid oid=0, prsname name=, prsnamespace oid=0, prsstart regproc=0, prstoken regproc=0, prsend regproc=0, \
              prsheadline regproc=0, prslextype regproc=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 3764,
        name: "pg_catalog.pg_ts_template",
        columns: "oid oid=0, tmplname name=, tmplnamespace oid=0, tmplinit regproc=0, tmpllexize regproc=0",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 1418,
        name: "pg_catalog.pg_user_mapping",
        columns: "oid oid=0, umuser oid=0, umserver oid=0, umoptions text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 12327,
        name: "pg_catalog.pg_user_mappings",
        columns: "umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions text[]",
        fill: Fill::Nothing,
    },
    Definition {
        oid: 13377,
        name: "information_schema.routines",
        columns: "specific_catalog name, specific_schema name, specific_name name, routine_catalog name, routine_schema \
              name, routine_name name, routine_type varchar, module_catalog name, module_schema name, module_name \
              name, udt_catalog name, udt_schema name, udt_name name, data_type varchar, character_maximum_length \
              int4, character_octet_length int4, character_set_catalog name, character_set_schema name, \
              character_set_name name, collation_catalog name, collation_schema name, collation_name name, \
              numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4, \
              interval_type varchar, interval_precision int4, type_udt_catalog name, type_udt_schema name, \
              type_udt_name name, scope_catalog name, scope_schema name, scope_name name, maximum_cardinality int4, \
              dtd_identifier name, routine_body varchar, routine_definition varchar, external_name varchar, \
              external_language varchar, parameter_style varchar, is_deterministic varchar, sql_data_access varchar, \
              is_null_call varchar, sql_path varchar, schema_level_routine varchar, max_dynamic_result_sets int4, \
              is_user_defined_cast varchar, is_implicitly_invocable varchar, security_type varchar, \
              to_sql_specific_catalog name, to_sql_specific_schema name, to_sql_specific_name name, as_locator \
              varchar, created timestamptz, last_altered timestamptz, new_savepoint_level varchar, is_udt_dependent \
              varchar, result_cast_from_data_type varchar, result_cast_as_locator varchar, result_cast_char_max_length \
              int4, result_cast_char_octet_length int4, result_cast_char_set_catalog name, result_cast_char_set_schema \
              name, result_cast_char_set_name name, result_cast_collation_catalog name, result_cast_collation_schema \
              name, result_cast_collation_name name, result_cast_numeric_precision int4, \
              result_cast_numeric_precision_radix int4, result_cast_numeric_scale int4, result_cast_datetime_precision \
              int4, result_cast_interval_type varchar, result_cast_interval_precision int4, \
              result_cast_type_udt_catalog name, result_cast_type_udt_schema name, result_cast_type_udt_name name, \
              result_cast_scope_catalog name, result_cast_scope_schema name, result_cast_scope_name name, \
              result_cast_maximum_cardinality int4, result_cast_dtd_identifier name",
        fill: Fill::Nothing,
    },
];
