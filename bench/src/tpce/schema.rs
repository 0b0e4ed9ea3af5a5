//! The 33 tables with their columns, keys, foreign keys and indexes, and the benchmark's own few tables.

/// A table and the body of its CREATE TABLE.
pub struct Table {
    pub name: &'static str,
    pub columns: &'static str,
}

const fn table(name: &'static str, columns: &'static str) -> Table {
    Table { name, columns }
}

/// The tables in an order in which each follows the tables that it refers to.
pub const TABLES: &[Table] = &[
    table("status_type", "st_id varchar(4) primary key, st_name varchar(10) not null"),
    table("zip_code", "zc_code varchar(12) primary key, zc_town varchar(80) not null, zc_div varchar(80) not null"),
    table(
        "address",
        "ad_id bigint primary key, ad_line1 varchar(80), ad_line2 varchar(80), ad_zc_code varchar(12) not null,
         ad_ctry varchar(80)",
    ),
    table("taxrate", "tx_id varchar(4) primary key, tx_name varchar(50) not null, tx_rate numeric(6,5) not null check (tx_rate >= 0)"),
    table("trade_type", "tt_id varchar(3) primary key, tt_name varchar(12) not null, tt_is_sell boolean not null, tt_is_mrkt boolean not null"),
    table("sector", "sc_id varchar(2) primary key, sc_name varchar(30) not null"),
    table("industry", "in_id varchar(2) primary key, in_name varchar(50) not null, in_sc_id varchar(2) not null"),
    table(
        "exchange",
        "ex_id varchar(6) primary key, ex_name varchar(100) not null, ex_num_symb integer not null,
         ex_open smallint not null, ex_close smallint not null, ex_desc varchar(150), ex_ad_id bigint not null",
    ),
    table(
        "company",
        "co_id bigint primary key, co_st_id varchar(4) not null, co_name varchar(60) not null, co_in_id varchar(2) not null,
         co_sp_rate varchar(4) not null, co_ceo varchar(46) not null, co_ad_id bigint not null, co_desc varchar(150) not null,
         co_open_date date not null",
    ),
    table(
        "company_competitor",
        "cp_co_id bigint, cp_comp_co_id bigint, cp_in_id varchar(2), primary key (cp_co_id, cp_comp_co_id, cp_in_id)",
    ),
    table(
        "security",
        "s_symb varchar(15) primary key, s_issue varchar(6) not null, s_st_id varchar(4) not null, s_name varchar(70) not null,
         s_ex_id varchar(6) not null, s_co_id bigint not null, s_num_out bigint not null, s_start_date date not null,
         s_exch_date date not null, s_pe numeric(10,2) not null, s_52wk_high numeric(8,2) not null,
         s_52wk_high_date date not null, s_52wk_low numeric(8,2) not null, s_52wk_low_date date not null,
         s_dividend numeric(10,2) not null, s_yield numeric(5,2) not null",
    ),
    table(
        "daily_market",
        "dm_date date, dm_s_symb varchar(15), dm_close numeric(8,2) not null, dm_high numeric(8,2) not null,
         dm_low numeric(8,2) not null, dm_vol bigint not null, primary key (dm_s_symb, dm_date)",
    ),
    table(
        "financial",
        "fi_co_id bigint, fi_year smallint, fi_qtr smallint check (fi_qtr between 1 and 4), fi_qtr_start_date date not null,
         fi_revenue numeric(15,2) not null, fi_net_earn numeric(15,2) not null, fi_basic_eps numeric(10,2) not null,
         fi_dilut_eps numeric(10,2) not null, fi_margin numeric(10,2) not null, fi_inventory numeric(15,2) not null,
         fi_assets numeric(15,2) not null, fi_liability numeric(15,2) not null, fi_out_basic bigint not null,
         fi_out_dilut bigint not null, primary key (fi_co_id, fi_year, fi_qtr)",
    ),
    table(
        "last_trade",
        "lt_s_symb varchar(15) primary key, lt_dts timestamp not null, lt_price numeric(8,2) not null,
         lt_open_price numeric(8,2) not null, lt_vol bigint",
    ),
    table(
        "news_item",
        "ni_id bigint primary key, ni_headline varchar(80) not null, ni_summary varchar(255) not null, ni_item text not null,
         ni_dts timestamp not null, ni_source varchar(30) not null, ni_author varchar(30)",
    ),
    table("news_xref", "nx_ni_id bigint, nx_co_id bigint, primary key (nx_co_id, nx_ni_id)"),
    table(
        "broker",
        "b_id bigint primary key, b_st_id varchar(4) not null, b_name varchar(49) not null, b_num_trades integer not null,
         b_comm_total numeric(12,2) not null",
    ),
    table(
        "customer",
        "c_id bigint primary key, c_tax_id varchar(20) not null, c_st_id varchar(4) not null, c_l_name varchar(25) not null,
         c_f_name varchar(20) not null, c_m_name varchar(1), c_gndr varchar(1), c_tier smallint not null check (c_tier between 1 and 3),
         c_dob date not null, c_ad_id bigint not null, c_ctry_1 varchar(3), c_area_1 varchar(3), c_local_1 varchar(10),
         c_ext_1 varchar(5), c_ctry_2 varchar(3), c_area_2 varchar(3), c_local_2 varchar(10), c_ext_2 varchar(5),
         c_ctry_3 varchar(3), c_area_3 varchar(3), c_local_3 varchar(10), c_ext_3 varchar(5), c_email_1 varchar(50),
         c_email_2 varchar(50)",
    ),
    table("customer_taxrate", "cx_tx_id varchar(4), cx_c_id bigint, primary key (cx_c_id, cx_tx_id)"),
    table(
        "customer_account",
        "ca_id bigint primary key, ca_b_id bigint not null, ca_c_id bigint not null, ca_name varchar(50),
         ca_tax_st smallint not null check (ca_tax_st between 0 and 2), ca_bal numeric(12,2) not null",
    ),
    table(
        "account_permission",
        "ap_ca_id bigint, ap_acl varchar(4) not null, ap_tax_id varchar(20), ap_l_name varchar(25) not null,
         ap_f_name varchar(20) not null, primary key (ap_ca_id, ap_tax_id)",
    ),
    table("watch_list", "wl_id bigint primary key, wl_c_id bigint not null"),
    table("watch_item", "wi_wl_id bigint, wi_s_symb varchar(15), primary key (wi_wl_id, wi_s_symb)"),
    table("charge", "ch_tt_id varchar(3), ch_c_tier smallint, ch_chrg numeric(10,2) not null check (ch_chrg > 0), primary key (ch_tt_id, ch_c_tier)"),
    table(
        "commission_rate",
        "cr_c_tier smallint, cr_tt_id varchar(3), cr_ex_id varchar(6), cr_from_qty integer check (cr_from_qty >= 0),
         cr_to_qty integer not null, cr_rate numeric(5,2) not null check (cr_rate >= 0),
         primary key (cr_c_tier, cr_tt_id, cr_ex_id, cr_from_qty), check (cr_to_qty > cr_from_qty)",
    ),
    table(
        "trade",
        "t_id bigint primary key, t_dts timestamp not null, t_st_id varchar(4) not null, t_tt_id varchar(3) not null,
         t_is_cash boolean not null, t_s_symb varchar(15) not null, t_qty integer not null check (t_qty > 0),
         t_bid_price numeric(8,2) not null check (t_bid_price > 0), t_ca_id bigint not null, t_exec_name varchar(49) not null,
         t_trade_price numeric(8,2), t_chrg numeric(10,2) not null check (t_chrg >= 0),
         t_comm numeric(10,2) not null check (t_comm >= 0), t_tax numeric(10,2) not null check (t_tax >= 0),
         t_lifo boolean not null",
    ),
    table("trade_history", "th_t_id bigint, th_dts timestamp not null, th_st_id varchar(4), primary key (th_t_id, th_st_id)"),
    table(
        "trade_request",
        "tr_t_id bigint primary key, tr_tt_id varchar(3) not null, tr_s_symb varchar(15) not null,
         tr_qty integer not null check (tr_qty > 0), tr_bid_price numeric(8,2) not null check (tr_bid_price > 0),
         tr_b_id bigint not null",
    ),
    table(
        "settlement",
        "se_t_id bigint primary key, se_cash_type varchar(40) not null, se_cash_due_date date not null, se_amt numeric(10,2) not null",
    ),
    table("cash_transaction", "ct_t_id bigint primary key, ct_dts timestamp not null, ct_amt numeric(10,2) not null, ct_name varchar(100)"),
    table("holding_summary", "hs_ca_id bigint, hs_s_symb varchar(15), hs_qty integer not null, primary key (hs_ca_id, hs_s_symb)"),
    table(
        "holding",
        "h_t_id bigint primary key, h_ca_id bigint not null, h_s_symb varchar(15) not null, h_dts timestamp not null,
         h_price numeric(8,2) not null check (h_price > 0), h_qty integer not null",
    ),
    table(
        "holding_history",
        "hh_h_t_id bigint, hh_t_id bigint, hh_before_qty integer not null, hh_after_qty integer not null,
         primary key (hh_h_t_id, hh_t_id)",
    ),
];

/// The benchmark's own tables: the size of the population, its loaded parts, and the commissions of runs that do not
/// update the brokers.
pub const OWN: &[Table] = &[
    table("bench_setting", "name varchar(40) primary key, value varchar(80) not null"),
    table("bench_part", "part varchar(60) primary key, row_count bigint not null"),
    table("broker_delta", "bd_t_id bigint primary key, bd_b_id bigint not null, bd_comm numeric(10,2) not null"),
];

/// Name of the sequence of trade ids.
pub const SEQUENCE: &str = "trade_id";

/// A foreign key: the table, its columns, the referenced table, and the columns there.
pub type ForeignKey = (&'static str, &'static str, &'static str, &'static str);

pub const FOREIGN_KEYS: &[ForeignKey] = &[
    ("address", "ad_zc_code", "zip_code", "zc_code"),
    ("industry", "in_sc_id", "sector", "sc_id"),
    ("exchange", "ex_ad_id", "address", "ad_id"),
    ("company", "co_st_id", "status_type", "st_id"),
    ("company", "co_in_id", "industry", "in_id"),
    ("company", "co_ad_id", "address", "ad_id"),
    ("company_competitor", "cp_co_id", "company", "co_id"),
    ("company_competitor", "cp_comp_co_id", "company", "co_id"),
    ("company_competitor", "cp_in_id", "industry", "in_id"),
    ("security", "s_st_id", "status_type", "st_id"),
    ("security", "s_ex_id", "exchange", "ex_id"),
    ("security", "s_co_id", "company", "co_id"),
    ("daily_market", "dm_s_symb", "security", "s_symb"),
    ("financial", "fi_co_id", "company", "co_id"),
    ("last_trade", "lt_s_symb", "security", "s_symb"),
    ("news_xref", "nx_ni_id", "news_item", "ni_id"),
    ("news_xref", "nx_co_id", "company", "co_id"),
    ("broker", "b_st_id", "status_type", "st_id"),
    ("customer", "c_st_id", "status_type", "st_id"),
    ("customer", "c_ad_id", "address", "ad_id"),
    ("customer_taxrate", "cx_tx_id", "taxrate", "tx_id"),
    ("customer_taxrate", "cx_c_id", "customer", "c_id"),
    ("customer_account", "ca_b_id", "broker", "b_id"),
    ("customer_account", "ca_c_id", "customer", "c_id"),
    ("account_permission", "ap_ca_id", "customer_account", "ca_id"),
    ("watch_list", "wl_c_id", "customer", "c_id"),
    ("watch_item", "wi_wl_id", "watch_list", "wl_id"),
    ("watch_item", "wi_s_symb", "security", "s_symb"),
    ("charge", "ch_tt_id", "trade_type", "tt_id"),
    ("commission_rate", "cr_tt_id", "trade_type", "tt_id"),
    ("commission_rate", "cr_ex_id", "exchange", "ex_id"),
    ("trade", "t_st_id", "status_type", "st_id"),
    ("trade", "t_tt_id", "trade_type", "tt_id"),
    ("trade", "t_s_symb", "security", "s_symb"),
    ("trade", "t_ca_id", "customer_account", "ca_id"),
    ("trade_history", "th_t_id", "trade", "t_id"),
    ("trade_history", "th_st_id", "status_type", "st_id"),
    ("trade_request", "tr_t_id", "trade", "t_id"),
    ("trade_request", "tr_tt_id", "trade_type", "tt_id"),
    ("trade_request", "tr_s_symb", "security", "s_symb"),
    ("trade_request", "tr_b_id", "broker", "b_id"),
    ("settlement", "se_t_id", "trade", "t_id"),
    ("cash_transaction", "ct_t_id", "trade", "t_id"),
    ("holding_summary", "hs_ca_id", "customer_account", "ca_id"),
    ("holding_summary", "hs_s_symb", "security", "s_symb"),
    ("holding", "h_t_id", "trade", "t_id"),
    ("holding", "h_ca_id, h_s_symb", "holding_summary", "hs_ca_id, hs_s_symb"),
    ("holding_history", "hh_h_t_id", "trade", "t_id"),
    ("holding_history", "hh_t_id", "trade", "t_id"),
];

/// An index: name, table, columns.
pub type Index = (&'static str, &'static str, &'static str);

pub const INDEXES: &[Index] = &[
    ("customer_by_tax_id", "customer", "c_tax_id"),
    ("account_by_customer", "customer_account", "ca_c_id"),
    ("watch_list_by_customer", "watch_list", "wl_c_id"),
    ("company_by_name", "company", "co_name"),
    ("company_by_industry", "company", "co_in_id"),
    ("security_by_company", "security", "s_co_id, s_issue"),
    ("industry_by_name", "industry", "in_name"),
    ("sector_by_name", "sector", "sc_name"),
    ("broker_by_name", "broker", "b_name"),
    ("trade_by_account", "trade", "t_ca_id, t_dts"),
    ("trade_by_security", "trade", "t_s_symb, t_dts"),
    ("trade_by_status", "trade", "t_st_id"),
    ("trade_request_by_security", "trade_request", "tr_s_symb, tr_tt_id, tr_bid_price"),
    ("trade_request_by_broker", "trade_request", "tr_b_id"),
    ("holding_by_account", "holding", "h_ca_id, h_s_symb, h_dts"),
    ("holding_history_by_trade", "holding_history", "hh_t_id"),
];

/// The name of the n-th foreign key.
pub fn foreign_key_name(place: usize) -> String {
    let (table, columns, ..) = FOREIGN_KEYS[place];
    format!("{table}_{}_fkey", columns.split(", ").collect::<Vec<_>>().join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_whole() {
        assert_eq!(TABLES.len(), 33);
        assert_eq!(FOREIGN_KEYS.len(), 49);
        let place = |name: &str| TABLES.iter().position(|table| table.name == name).unwrap();
        for (table, columns, other, keys) in FOREIGN_KEYS {
            assert!(place(other) < place(table), "{table} is made before {other}");
            assert_eq!(columns.split(", ").count(), keys.split(", ").count());
        }
    }
}
