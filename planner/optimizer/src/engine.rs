//! [`Engine`]: the DataFusion environment of a database: optimizer rules, memory, spill space.

use super::careful_rule::CarefulRule;
use super::column_first::ColumnFirst;
use super::constants::check_constants;
use super::correlated::{apply_subqueries, has_correlated, subquery_of};
use super::cross_joins::CrossJoins;
use super::empty_relations::EmptyRelations;
use super::filter_barriers::hold_filters;
use super::in_order::InOrder;
use super::interruptible_rule::{InterruptiblePhysicalRule, InterruptibleRule};
use super::join_order::order_joins;
use super::kept_orders::KeptOrders;
use super::key_order::KeyOrder;
use super::lookup_join::LookupJoin;
use super::optional_rule::OptionalRule;
use super::prepared::{IDLE_BYTES, Uses};
use super::strict::fold_nulls;
use super::unsound_steps::UnsoundSteps;
use super::written_orders::WrittenOrders;
use context::row_planner::RowPlanner;
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
use executor::detached::Workers;
use executor::extension::ExtensionNodes;
use executor::interrupt::interruptible;
use executor::parameter_binding::{fill_placeholders, filters_to_scans};
use executor::recursive_union::acquainted;
use executor::slots::Slots;
use executor::table_scan::TableScanExec;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use sql_error::interrupt::pass_on_to_tasks;
use sql_error::value_size::{folding, folding_within};
use sql_error::{Result, SqlError, state};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Settings from which an [`Engine`] is made.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Memory limit, in bytes, for the operators of all statements together. Beyond it they spill, or fail with 53200
    /// if they cannot.
    pub memory_bytes: usize,
    /// Memory limit of the whole process, in bytes.
    pub process_bytes: usize,
    /// Memory limit, in bytes, for all named prepared statements together.
    pub prepared_bytes: usize,
    /// The spill directory. `None` is the system's temporary directory.
    pub spill_directory: Option<PathBuf>,
    /// Most bytes on disk for spilling.
    pub spill_bytes: u64,
    /// Most partitions of a plan, which is the number of cores for a statement that scans large tables. Other
    /// statements use one.
    pub partitions: usize,
    /// Least bytes on disk of a table that is scanned in parallel.
    pub parallel_bytes: usize,
    /// Most rows in one batch.
    pub batch_rows: usize,
    /// Whether the store can scan in reverse order.
    pub reverse_scans: bool,
    /// The threads for long computations. The default is the caller's runtime.
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

/// A planner of extension nodes.
pub type NodePlanner = Arc<dyn ExtensionPlanner + Send + Sync>;

/// Makes a planner of extension nodes for the plan instance that owns the slots.
pub type NodePlannerFactory = Box<dyn Fn(&Arc<Slots>) -> NodePlanner + Send + Sync>;

/// Plans and runs statements. Each database has one engine, which its sessions share.
pub struct Engine {
    /// Planner state with one partition.
    state: SessionState,
    /// Planner state with several partitions, for large scans.
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
    /// Makes an engine. It plans the nodes of `execution`, and further nodes (`execution::dml`) with the planners that
    /// `planners` make. Errors: the spill directory cannot be created.
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

    /// Optimizes a logical plan; its placeholders stay. Correlated subqueries become joins if DataFusion can do that.
    /// Otherwise they run row by row.
    pub fn optimize(&self, plan: &LogicalPlan) -> Result<LogicalPlan> {
        let held = hold_filters(plan)?;
        let optimized = self.optimize_as_written(held.as_ref().unwrap_or(plan))?;
        let Some(ordered) = order_joins(&optimized)? else { return Ok(optimized) };
        // Remove columns that the joins do not need in their new order.
        let pruned = OptimizeProjections::new().rewrite(ordered, &self.state)?;
        Ok(pruned.data)
    }

    fn optimize_as_written(&self, plan: &LogicalPlan) -> Result<LogicalPlan> {
        let applied = apply_subqueries(plan.clone(), false)?;
        match self.rewrite(&applied) {
            Ok(optimized) if !has_correlated(&optimized)? => Ok(optimized),
            first => {
                let applied = apply_subqueries(plan.clone(), true)?;
                // If both fail, the first error is more informative.
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

    /// Applies DataFusion's rules. Errors: a rule made an invalid plan of subqueries. DataFusion checks after each rule
    /// only in debug builds, but release builds must plan alike. Also 54001 for subqueries nested too deeply: each
    /// level doubles the time of a check.
    fn rewrite(&self, plan: &LogicalPlan) -> DataFusionResult<LogicalPlan> {
        /// Up to this depth, a check after each rule is fast.
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

    /// Optimizes and plans a bound plan. The result reads `slots` and can run repeatedly.
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

    /// Plans an optimized plan whose placeholders read `slots`, with one partition.
    pub async fn plan_filled(&self, filled: &LogicalPlan, slots: &Arc<Slots>) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = folding_within(self.planner(slots).create_physical_plan(filled, &self.state)).await?;
        Ok(interruptible(acquainted(plan)?, slots)?)
    }

    fn planner(&self, slots: &Arc<Slots>) -> DefaultPhysicalPlanner {
        let mut planners: Vec<NodePlanner> = vec![Arc::new(ExtensionNodes)];
        planners.extend(self.planners.iter().map(|make| make(slots)));
        DefaultPhysicalPlanner::with_extension_planners(planners)
    }

    /// Memory limit for operators and large values, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Memory limit of the whole process, in bytes.
    pub fn process_bytes(&self) -> usize {
        self.process_bytes
    }

    /// Approximate bytes of all idle plan instances, and their limit.
    pub fn idle_plans(&self) -> (usize, usize) {
        (self.idle_plan_bytes.load(Ordering::Relaxed), IDLE_BYTES)
    }

    /// Approximate bytes of all statements' idle plan instances.
    pub(super) fn idle_plan_bytes(&self) -> &AtomicUsize {
        &self.idle_plan_bytes
    }

    /// Adds the counters of a plan that is dropped.
    pub(super) fn count_departed(&self, uses: Uses) {
        *self.departed.lock() += uses;
    }

    /// The summed counters of all dropped plans.
    pub fn departed(&self) -> Uses {
        *self.departed.lock()
    }

    /// The threads for long computations.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// The context of operators: memory pool, spill space, batch size.
    pub fn task_context(&self) -> &Arc<TaskContext> {
        &self.task
    }
}

/// Nesting depth of subqueries in expressions, counted up to `most` + 1.
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

/// Rejects a FULL JOIN without an equality between its sides, as PostgreSQL does. It is allowed if its condition is
/// constant, or if filters turn it into another join. Errors: 0A000.
fn refuse_full_joins(plan: &LogicalPlan) -> Result<()> {
    let mut refused = false;
    plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Join(join) = node
            && join.join_type == JoinType::Full
        {
            // IS NOT DISTINCT FROM does not count as an equality.
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

/// Whether a plan fully scans a large table.
fn scans_much(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<TableScanExec>().is_some_and(TableScanExec::is_large)
        || plan.children().into_iter().any(scans_much)
}

fn runtime(options: &EngineOptions) -> Result<Arc<RuntimeEnv>> {
    // A fair pool: a statement that can spill leaves room for others. The largest consumers are named when memory runs
    // out.
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
    // Planning runs inside a task of the server and must not spawn others.
    all.execution.planning_concurrency = 1;
    // Physical and logical expressions may differ in nullability. That is not an error.
    all.execution.skip_physical_aggregate_schema_check = true;
    // Memory that a sort reserves for its merge. The default of 10 MB times many sessions would fill the pool.
    all.execution.sort_spill_reservation_bytes = 1 << 20;
    let optimizer = &mut all.optimizer;
    // A running join or sort would push filters into its scans. A plan that runs again would carry this state from one
    // run to the next.
    optimizer.enable_dynamic_filter_pushdown = false;
    optimizer.enable_join_dynamic_filter_pushdown = false;
    optimizer.enable_topk_dynamic_filter_pushdown = false;
    optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // Both push a limit through windows that need rows beyond it: all groups, or the sum of what several frames reach.
    optimizer.enable_topk_aggregation = false;
    optimizer.enable_window_limits = false;
    // A rule of ours derives orders from keys.
    optimizer.enable_sort_pushdown = false;
    // It pays only for nested columns in files.
    optimizer.enable_leaf_expression_pushdown = false;
    // Least size of a table for a parallel scan. Our tables read the setting for files.
    optimizer.repartition_file_min_size = options.parallel_bytes;
    // Scans are partitioned by tablets or not at all.
    optimizer.enable_round_robin_repartition = false;
    config
}

/// DataFusion's logical rules, some of them corrected.
fn logical_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mended: Arc<dyn OptimizerRule + Send + Sync> = Arc::new(EmptyRelations::default());
    let rules = Optimizer::new().rules.into_iter();
    let rules = rules.map(|rule| if rule.name() == mended.name() { Arc::clone(&mended) } else { rule });
    // A join of which only distinct rows are needed becomes a semi-join.
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
    // The rule matches columns by name, so with two columns of one name it may test the wrong one (`b.name IS NULL`
    // above a join with a second `name`). The logical rules have already pushed conditions down.
    let by_name = |rule: &str| rule.starts_with("FilterPushdown");
    // The rule counts a constant NULL as a distinct value of its column.
    let by_statistics = |rule: &str| rule == "aggregate_statistics";
    let known = PhysicalOptimizer::new().rules.into_iter();
    let known = known.filter(|rule| !by_name(rule.name()) && !by_statistics(rule.name()));
    for rule in known.filter(|rule| rule.name() != kept_orders.name()) {
        let joins_are_chosen = rule.name() == JoinSelection::new().name();
        let enforces = rule.name() == WrittenOrders::default().name();
        // It only removes unused columns, and may fail if two joins have columns with the same name.
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

impl RowPlanner for Engine {
    fn plan_filled<'a>(
        &'a self,
        plan: &'a LogicalPlan,
        slots: &'a Arc<Slots>,
    ) -> BoxFuture<'a, Result<Arc<dyn ExecutionPlan>>> {
        Box::pin(self.plan_filled(plan, slots))
    }
    fn task_context(&self) -> &Arc<TaskContext> {
        self.task_context()
    }
}
