//! [`Engine`]: the one DataFusion environment of a database: optimiser rules, memory, spill space.

use super::careful_rule::CarefulRule;
use super::column_first::ColumnFirst;
use super::constants::check_constants;
use super::correlated::{apply_subqueries, has_correlated, subquery_of};
use super::cross_joins::CrossJoins;
use super::empty_relations::EmptyRelations;
use super::in_order::InOrder;
use super::interruptible_rule::{InterruptiblePhysicalRule, InterruptibleRule};
use super::join_order::order_joins;
use super::kept_orders::KeptOrders;
use super::key_order::KeyOrder;
use super::lookup_join::LookupJoin;
use super::one_row::hold_filters;
use super::optional_rule::OptionalRule;
use super::prepared::{IDLE_BYTES, Uses};
use super::slotting::{fill_placeholders, filters_to_scans};
use super::strict::fold_nulls;
use super::unsound_steps::UnsoundSteps;
use super::written_orders::WrittenOrders;
use crate::error::{Result, SqlError, state};
use crate::execution::detached::Workers;
use crate::execution::extension::ExtensionNodes;
use crate::execution::interrupt::interruptible;
use crate::execution::new_rows::acquainted;
use crate::execution::slots::Slots;
use crate::execution::table_scan::TableScanExec;
use crate::interrupt::pass_on_to_tasks;
use crate::value_size::{folding, folding_within};
use datafusion::common::NullEquality;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result as DataFusionResult;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::execution::{SessionStateDefaults, TaskContext};
use datafusion::logical_expr::{Expr, InvariantLevel, JoinType, LogicalPlan};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::{Optimizer, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::join_selection::JoinSelection;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How an [`Engine`] is made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory that the operators of all statements together may hold, in bytes. Beyond it they
    /// spill, or fail with 53200 where they cannot.
    pub memory_bytes: usize,
    /// Memory that the whole process is to stay within, in bytes.
    pub process_bytes: usize,
    /// Memory that statements which sessions keep by name may take together, in bytes.
    pub prepared_bytes: usize,
    /// Where operators spill; the system's temporary directory when there is none.
    pub spill_directory: Option<PathBuf>,
    /// Bytes on disk that spilling may take.
    pub spill_bytes: u64,
    /// Partitions of a plan, at most: how many cores a statement may use that scans large tables. Others
    /// use one.
    pub partitions: usize,
    /// Bytes on the medium from which a table is scanned in parallel.
    pub parallel_bytes: usize,
    /// Rows in one batch, at most.
    pub batch_rows: usize,
    /// Whether the store can be read backwards.
    pub reverse_scans: bool,
    /// Where long computations run; beside everything else when there is none.
    pub workers: Workers,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            memory_bytes: 1 << 30,
            process_bytes: 4 << 30,
            prepared_bytes: 512 << 20,
            spill_directory: None,
            spill_bytes: 64 << 30,
            partitions: std::thread::available_parallelism().map_or(1, |cores| cores.get().min(4)),
            parallel_bytes: 2 << 20,
            batch_rows: 4096,
            reverse_scans: true,
            workers: Workers::default(),
        }
    }
}

/// A planner of logical nodes.
pub type NodePlanner = Arc<dyn ExtensionPlanner + Send + Sync>;

/// Makes a planner of logical nodes for the plan instance that owns the slots.
pub type NodePlannerFactory = Box<dyn Fn(&Arc<Slots>) -> NodePlanner + Send + Sync>;

/// Plans and runs. One for each database; shared by its sessions.
pub struct Engine {
    /// Plans with one partition.
    state: SessionState,
    /// Plans with several, for large scans.
    parallel: Option<SessionState>,
    task: Arc<TaskContext>,
    planners: Vec<NodePlannerFactory>,
    workers: Workers,
    memory_bytes: usize,
    process_bytes: usize,
    idle_plan_bytes: AtomicUsize,
    departed: Mutex<Uses>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

impl Engine {
    /// An engine that plans the nodes of `execution` and, with what `planners` make, those of others
    /// (`execution::dml`). Errors: the spill directory cannot be made.
    pub fn new(options: EngineOptions, planners: Vec<NodePlannerFactory>) -> Result<Arc<Engine>> {
        pass_on_to_tasks();
        let runtime = runtime(&options)?;
        let state = |partitions: usize| {
            SessionStateBuilder::new()
                .with_config(config(&options, partitions))
                .with_runtime_env(Arc::clone(&runtime))
                .with_optimizer_rules(logical_rules())
                .with_physical_optimizer_rules(physical_rules(options.reverse_scans))
                .with_expr_planners(SessionStateDefaults::default_expr_planners())
                .build()
        };
        let parallel = (options.partitions > 1).then(|| state(options.partitions));
        let state = state(1);
        let task = state.task_ctx();
        Ok(Arc::new(Engine {
            state,
            parallel,
            task,
            planners,
            memory_bytes: options.memory_bytes,
            process_bytes: options.process_bytes,
            workers: options.workers,
            idle_plan_bytes: AtomicUsize::new(0),
            departed: Mutex::default(),
        }))
    }

    /// Optimises a logical plan; its placeholders stay. Correlated subqueries become joins where
    /// DataFusion can, and are run row by row where it cannot.
    pub fn optimize(&self, plan: &LogicalPlan) -> Result<LogicalPlan> {
        let held = hold_filters(plan)?;
        let optimized = self.optimize_as_written(held.as_ref().unwrap_or(plan))?;
        let Some(ordered) = order_joins(&optimized)? else { return Ok(optimized) };
        // Leaves out the columns that the joins in their new order do not need any more.
        let pruned = OptimizeProjections::new().rewrite(ordered, &self.state)?;
        Ok(pruned.data)
    }

    fn optimize_as_written(&self, plan: &LogicalPlan) -> Result<LogicalPlan> {
        let applied = apply_subqueries(plan.clone(), false)?;
        match self.rewrite(&applied) {
            Ok(optimized) if !has_correlated(&optimized)? => Ok(optimized),
            first => {
                let applied = apply_subqueries(plan.clone(), true)?;
                // The first error is the telling one when both fail.
                let optimized = match self.rewrite(&applied).or(first) {
                    Ok(optimized) => optimized,
                    Err(error) => {
                        let error = SqlError::from(error);
                        if error.state() == state::INTERNAL_ERROR && has_correlated(plan)? {
                            return Err(SqlError::unsupported("a LATERAL or correlated subquery of this shape"));
                        }
                        return Err(error);
                    }
                };
                if has_correlated(&optimized)? {
                    return Err(SqlError::unsupported("a LATERAL or correlated subquery of this shape"));
                }
                Ok(optimized)
            }
        }
    }

    /// DataFusion's rules. Errors: a rule made a plan of subqueries that cannot be; DataFusion itself looks after each rule in debug
    /// builds only, and release builds must plan alike. 54001 for subqueries of expressions that stand too deep in each other: each
    /// look at a plan takes twice as long for one more.
    fn rewrite(&self, plan: &LogicalPlan) -> DataFusionResult<LogicalPlan> {
        /// Up to here a look after each rule is short.
        const LOOKED_AT: usize = 8;
        const MOST: usize = 16;
        let state = &self.state;
        let depth = depth_of_subqueries(plan, MOST)?;
        if depth > MOST {
            let message = format!("subqueries of expressions stand more than {MOST} deep in each other");
            return Err(SqlError::new(state::STATEMENT_TOO_COMPLEX, message).into());
        }
        let analyzed = state.analyzer().execute_and_check(plan.clone(), state.config_options(), |_, _| {})?;
        let looked_at = (1..=LOOKED_AT).contains(&depth);
        let mut fault = None;
        let optimized = state.optimizer().optimize(analyzed, state, |plan, rule| {
            if looked_at && fault.is_none() {
                let checked = plan.check_invariants(InvariantLevel::Executable);
                fault = checked.err().map(|error| error.context(rule.name().to_string()));
            }
        })?;
        if depth > LOOKED_AT {
            optimized.check_invariants(InvariantLevel::Executable)?;
        }
        fault.map_or(Ok(optimized), Err)
    }

    /// The whole way from a bound plan to one that can run, again and again, with `slots`.
    pub async fn plan(&self, plan: &LogicalPlan, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
        check_constants(plan, &self.state)?;
        let (optimized, _) = folding(|| self.optimize(&fold_nulls(plan.clone())?));
        let optimized = optimized?;
        refuse_full_joins(&optimized)?;
        let filled = filters_to_scans(fill_placeholders(optimized, slots)?)?;
        let planner = self.planner(slots);
        let plan = folding_within(planner.create_physical_plan(&filled, &self.state)).await?;
        let plan = match &self.parallel {
            Some(parallel) if scans_much(&plan) => {
                folding_within(planner.create_physical_plan(&filled, parallel)).await?
            }
            _ => plan,
        };
        Ok(interruptible(acquainted(plan)?, slots)?)
    }

    /// Plans what has been optimised and whose placeholders read `slots`, in one partition.
    pub async fn plan_filled(&self, filled: &LogicalPlan, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = folding_within(self.planner(slots).create_physical_plan(filled, &self.state)).await?;
        Ok(interruptible(acquainted(plan)?, slots)?)
    }

    fn planner(&self, slots: &Arc<Slots>) -> DefaultPhysicalPlanner {
        let mut planners: Vec<NodePlanner> = vec![Arc::new(ExtensionNodes)];
        planners.extend(self.planners.iter().map(|make| make(slots)));
        DefaultPhysicalPlanner::with_extension_planners(planners)
    }

    /// Memory that operators and large values may hold, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Memory that the whole process is to stay within, in bytes.
    pub fn process_bytes(&self) -> usize {
        self.process_bytes
    }

    /// Bytes of all statements' idle plan instances, about, and how many they may take.
    pub fn idle_plans(&self) -> (usize, usize) {
        (self.idle_plan_bytes.load(Ordering::Relaxed), IDLE_BYTES)
    }

    /// Memory of all statements' idle plan instances, about, in bytes.
    pub(super) fn idle_plan_bytes(&self) -> &AtomicUsize {
        &self.idle_plan_bytes
    }

    /// Counts what was asked of a plan that goes.
    pub(super) fn count_departed(&self, uses: Uses) {
        *self.departed.lock() += uses;
    }

    /// What was asked of the plans that are gone, in sum.
    pub fn departed(&self) -> Uses {
        *self.departed.lock()
    }

    /// Where long computations run.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// What operators run with: memory pool, spill space, batch size.
    pub fn task_context(&self) -> &Arc<TaskContext> {
        &self.task
    }
}

/// How deep subqueries of expressions stand in each other, as far as `most` and one more.
fn depth_of_subqueries(plan: &LogicalPlan, most: usize) -> DataFusionResult<usize> {
    let mut deepest = 0;
    plan.apply(|node| {
        node.apply_expressions(|expression| {
            expression.apply(|inner| {
                if let Some(subquery) = subquery_of(inner) {
                    let within = if most == 0 { 0 } else { depth_of_subqueries(&subquery.subquery, most - 1)? };
                    deepest = deepest.max(within + 1);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(deepest)
}

/// Errors: 0A000 for a FULL JOIN without an equality of its sides, as in PostgreSQL: unless its condition is a constant, or
/// what is asked of its rows makes another join of it.
fn refuse_full_joins(plan: &LogicalPlan) -> Result<()> {
    let mut refused = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Join(join) = node
            && join.join_type == JoinType::Full
        {
            // IS NOT DISTINCT FROM is no equality.
            let equality = !join.on.is_empty() && join.null_equality == NullEquality::NullEqualsNothing;
            let constant =
                join.on.is_empty() && join.filter.as_ref().is_none_or(|filter| matches!(filter, Expr::Literal(..)));
            refused |= !equality && !constant;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    if !refused {
        return Ok(());
    }
    let message = "FULL JOIN is only supported with merge-joinable or hash-joinable join conditions";
    Err(SqlError::new(state::FEATURE_NOT_SUPPORTED, message))
}

/// Whether a plan reads a large table from end to end.
fn scans_much(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<TableScanExec>().is_some_and(TableScanExec::is_large)
        || plan.children().into_iter().any(scans_much)
}

fn runtime(options: &EngineOptions) -> Result<Arc<RuntimeEnv>> {
    // Fair: a statement that can spill leaves room for the others; the greediest are named when memory runs out.
    let top = NonZeroUsize::MIN.saturating_add(2);
    let pool = TrackConsumersPool::new(FairSpillPool::new(options.memory_bytes), top);
    let mode = match &options.spill_directory {
        Some(directory) => DiskManagerMode::Directories(vec![directory.clone()]),
        None => DiskManagerMode::OsTmpDirectory,
    };
    let disk = DiskManagerBuilder::default().with_mode(mode).with_max_temp_directory_size(options.spill_bytes);
    Ok(RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).with_disk_manager_builder(disk).build_arc()?)
}

fn config(options: &EngineOptions, partitions: usize) -> SessionConfig {
    let mut config = SessionConfig::new()
        .with_target_partitions(partitions.max(1))
        .with_batch_size(options.batch_rows.max(1))
        .with_information_schema(false)
        .with_create_default_catalog_and_schema(false);
    let all = config.options_mut();
    // Planning happens inside a server's task: it must not fan out on its own.
    all.execution.planning_concurrency = 1;
    // What cannot be NULL is known better to physical expressions than to logical ones, or the other way round: no fault.
    all.execution.skip_physical_aggregate_schema_check = true;
    // The memory that one sort keeps back for its merge; the default of 10 MB times many sessions is the pool.
    all.execution.sort_spill_reservation_bytes = 1 << 20;
    let optimizer = &mut all.optimizer;
    // Filters that a running join or sort pushes into its scans: state that a plan which runs again
    // would carry from one run to the next.
    optimizer.enable_dynamic_filter_pushdown = false;
    optimizer.enable_join_dynamic_filter_pushdown = false;
    optimizer.enable_topk_dynamic_filter_pushdown = false;
    optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // Both push a limit through windows that need rows beyond it: all groups, and what frames of several windows reach in sum.
    optimizer.enable_topk_aggregation = false;
    optimizer.enable_window_limits = false;
    // Orders are taken from keys by a rule of ours.
    optimizer.enable_sort_pushdown = false;
    // Only pays for nested columns in files.
    optimizer.enable_leaf_expression_pushdown = false;
    // From which size a table is scanned in parallel: tables of ours read it as files do.
    optimizer.repartition_file_min_size = options.parallel_bytes;
    // Scans are partitioned by tablets or not at all.
    optimizer.enable_round_robin_repartition = false;
    config
}

/// DataFusion's, some of them mended.
fn logical_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mended: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(EmptyRelations::default());
    let rules = Optimizer::new().rules.into_iter();
    let rules = rules.map(|rule| if rule.name() == mended.name() { Arc::clone(&mended) } else { rule });
    // A join of which only different rows are asked for becomes a look for one match.
    let rules = rules.map(|rule| match rule.name() {
        "eliminate_join" => Arc::new(CarefulRule(rule)) as Arc<dyn OptimizerRule + Send + Sync>,
        "push_down_filter" => Arc::new(ColumnFirst(rule)),
        "eliminate_cross_join" => Arc::new(CrossJoins),
        _ => rule,
    });
    rules.map(|rule| Arc::new(InterruptibleRule(rule)) as Arc<dyn OptimizerRule + Send + Sync>).collect()
}

fn physical_rules(reverse_scans: bool) -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let key_order = KeyOrder { reverse_scans };
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> = vec![Arc::new(key_order)];
    let kept_orders = KeptOrders::default();
    // Moves conditions by the names of columns, so that of two columns of one name another is asked (`b.name IS NULL` above a join with
    // a second `name`). Where conditions can be moved, the logical rules have done it.
    let by_name = |rule: &str| rule.starts_with("FilterPushdown");
    // Counts a constant NULL as one of the different values of its column.
    let by_statistics = |rule: &str| rule == "aggregate_statistics";
    let known = PhysicalOptimizer::new().rules.into_iter();
    let known = known.filter(|rule| !by_name(rule.name()) && !by_statistics(rule.name()));
    for rule in known.filter(|rule| rule.name() != kept_orders.name()) {
        let joins_are_chosen = rule.name() == JoinSelection::new().name();
        let enforces = rule.name() == WrittenOrders::default().name();
        // Columns that are taken along for nothing cost time, and where two joins have columns of one name it may fail.
        let optional = rule.name() == "ProjectionPushdown";
        rules.push(match (enforces, optional) {
            (true, _) => Arc::new(WrittenOrders::default()),
            (_, true) => Arc::new(OptionalRule(rule)),
            _ => rule,
        });
        if joins_are_chosen {
            rules.push(Arc::new(LookupJoin));
            rules.push(Arc::new(key_order));
        }
    }
    rules.push(Arc::new(kept_orders));
    rules.push(Arc::new(InOrder));
    rules.push(Arc::new(UnsoundSteps));
    rules.into_iter().map(|rule| Arc::new(InterruptiblePhysicalRule(rule)) as Arc<_>).collect()
}
