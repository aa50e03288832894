import { randomBytes } from 'node:crypto'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import type { ScenarioRunView, ScenarioStepView } from '../../../shared/console/scenarios.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { inBackground } from '../../../shared/unawaited.ts'
import type { SiteFile } from '../../../shared/site-file.ts'
import type { Log } from '../../observe/log.ts'
import type { StoredScenarioRun } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { ApiAddresses } from './clients.ts'
import { ScenarioClock } from './clock.ts'
import type { Scenario } from './format.ts'
import { type Plan, type PlannedStep, planOf, runScenario, type StepVerdict } from './run.ts'
import { type CallProcedure, recordOf, restoreSite, type SiteBefore } from './site-changes.ts'

interface ScenarioRunsDependencies {
  store: Store
  logger: Log
  applySite: (site: SiteFile) => Promise<void>
  addresses: () => ApiAddresses
  useRandom: (random: (() => number) | undefined) => void
  /** Called when `run` has changed. */
  changed: () => void
  /** Calls procedures as the site itself, to take back what a run made. */
  asSite: CallProcedure
}

/** Options of a run on this site. */
interface RunRequest {
  scenario: Scenario
  before: SiteBefore
  seed: number
  /** Factor of the pace; Infinity: without pauses. */
  pace: number
  paused: boolean
  /** Calls procedures for the operator who started the run. */
  call: CallProcedure
  /** Whether the operator may still run a scenario. */
  mayContinue: () => boolean
}

const lock = 'scenario_runs'
const key = 'site'

/** Scenarios on this site: one run at a time. Its end takes back what it made, also after a restart. */
export class ScenarioRuns {
  readonly #dependencies: ScenarioRunsDependencies
  #view: ScenarioRunView | null = null
  #record: StoredScenarioRun | undefined
  #clock: ScenarioClock | undefined
  #stopped = new AbortController()
  #running: Promise<void> | undefined
  #closing = false

  constructor(dependencies: ScenarioRunsDependencies) {
    this.#dependencies = dependencies
  }

  /** The present or last run; null: none since the start of this controller. */
  get run(): ScenarioRunView | null {
    return this.#view
  }

  /** Takes back what a run made that a restart interrupted. Idempotent. */
  resume(): void {
    const record = this.#dependencies.store.get('scenario_runs', key)
    if (record === undefined || this.#running !== undefined) return
    const { name, title, description, started_at } = record
    this.#view = { name, title, description, started_at, seed: 0, steps: [], left: [], state: 'restoring' }
    this.#record = record
    this.#running = this.#takeBack('interrupted')
    inBackground(this.#running, 'an interrupted scenario could not be taken back', this.#dependencies.logger)
  }

  /** @throws RefusalError if a scenario is running */
  assertIdle(): void {
    if (this.#running !== undefined) throw new RefusalError(refusal('scenarioRunning'))
  }

  /** Starts a run. @throws RefusalError if one is running; errors of applySite */
  async start(request: RunRequest): Promise<ScenarioRunView> {
    this.assertIdle()
    const { seed, pace, paused, before } = request
    const scenario = withNewSecrets(request.scenario)
    const { store, applySite } = this.#dependencies
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#running = promise
    this.#stopped = new AbortController()
    const startedAt = Date.now()
    const record = recordOf(scenario, before, startedAt)
    this.#record = record
    const plan = planOf(scenario, seed)
    try {
      await store.transact([lock], (transaction) => transaction.put('scenario_runs', key, record))
      const created = scenario.site.nodes?.filter(({ name }) => !before.nodes.has(name))
      await applySite({ ...scenario.site, ...(created !== undefined && { nodes: created }) })
    } catch (error) {
      await this.#takeBack('stopped')
      resolve()
      throw error
    }
    const { name, title, description } = scenario
    const steps = plan.steps.map(stepView)
    const view: ScenarioRunView = {
      ...{ name, title, description, seed, started_at: startedAt, steps, left: [] },
      state: paused ? 'paused' : 'running',
    }
    this.#show(view)
    this.#clock = new ScenarioClock(pace)
    if (paused) this.#clock.pause()
    inBackground(
      this.#play({ ...request, scenario }, plan, this.#clock).finally(resolve),
      'a scenario failed',
      this.#dependencies.logger,
    )
    return view
  }

  pause(): void {
    this.#steer('paused', (clock) => clock.pause())
  }

  resumeClock(): void {
    this.#steer('running', (clock) => clock.resume())
  }

  step(): void {
    this.#steer('paused', (clock) => clock.step())
  }

  /** Stops the run. What it made is taken back in the background. */
  stop(): void {
    this.#stopped.abort(new Error('the run was stopped'))
  }

  /** Stops the run. What it made is taken back at the next start, which also says so. */
  async close(): Promise<void> {
    this.#closing = true
    this.stop()
    await this.#running
  }

  #steer(state: 'running' | 'paused', act: (clock: ScenarioClock) => void): void {
    const view = this.#view
    const isSteered = view?.state === 'running' || view?.state === 'paused'
    if (view === null || !isSteered || this.#clock === undefined) throw new RefusalError(refusal('scenarioNotRunning'))
    act(this.#clock)
    this.#show({ ...view, state })
  }

  async #play(request: RunRequest, plan: Plan, clock: ScenarioClock): Promise<void> {
    const { scenario, call, mayContinue } = request
    const { addresses, useRandom } = this.#dependencies
    const made = (kind: 'rooms' | 'devices', id: string): void => this.#note(kind, id)
    const { signal } = this.#stopped
    let state: 'done' | 'stopped' = 'stopped'
    try {
      await runScenario(scenario, plan, { call, made, addresses: addresses(), useRandom }, clock, signal, {
        onBegin: (planned) => {
          if (mayContinue()) this.#showStep(planned, { state: 'running', expected: '', came: '' })
          else this.stop()
        },
        onEnd: (verdict) => this.#showStep(verdict, stateOf(verdict)),
      })
      if (!signal.aborted) state = 'done'
    } finally {
      if (!this.#closing) await this.#takeBack(state)
    }
  }

  /** Stores that the run made a record, for a restart. */
  #note(kind: 'rooms' | 'devices', id: string): void {
    const { store, logger } = this.#dependencies
    const record = this.#record
    if (record === undefined || record[kind].includes(id)) return
    const next = { ...record, [kind]: [...record[kind], id] }
    this.#record = next
    // Not awaited: the scenario may have blocked writes.
    const stored = store.transact([lock], (transaction) => transaction.put('scenario_runs', key, next))
    inBackground(stored, 'a record of a scenario could not be noted', logger)
  }

  async #takeBack(state: 'done' | 'stopped' | 'interrupted'): Promise<void> {
    const { store, logger, asSite } = this.#dependencies
    if (this.#view !== null) this.#show({ ...this.#view, state: 'restoring' })
    const record = this.#record
    const left = record === undefined ? [] : await restoreSite(record, asSite)
    if (left.length > 0) logger.warn({ left }, 'a scenario left something on the site')
    try {
      await store.transact([lock], (transaction) => transaction.delete('scenario_runs', key))
    } catch (error) {
      // The next start takes everything back once more.
      logger.error({ err: error }, 'the record of a scenario could not be removed')
    }
    this.#record = undefined
    this.#running = undefined
    if (this.#view !== null) this.#show({ ...this.#view, state, left })
  }

  #showStep({ number }: PlannedStep, change: Pick<ScenarioStepView, 'state' | 'expected' | 'came'>): void {
    const view = this.#view
    if (view === null) return
    this.#show({ ...view, steps: view.steps.map((step) => (step.number === number ? { ...step, ...change } : step)) })
  }

  #show(view: ScenarioRunView): void {
    this.#view = view
    this.#dependencies.changed()
  }
}

/** Returns the scenario with new secret keys: everybody can read those of its file, but the site may be in a network. */
function withNewSecrets(scenario: Scenario): Scenario {
  const { credentials } = scenario.site
  if (credentials === undefined) return scenario
  const renewed = credentials.map((credential) => ({
    ...credential,
    secret_key: randomBytes(24).toString('base64url'),
  }))
  return { ...scenario, site: { ...scenario.site, credentials: renewed } }
}

function stepView({ number, at, step }: PlannedStep): ScenarioStepView {
  return { number, at, say: step.say, state: 'waiting', expected: '', came: '' }
}

function stateOf({ outcome }: StepVerdict): Pick<ScenarioStepView, 'state' | 'expected' | 'came'> {
  switch (outcome.outcome) {
    case 'holds':
      return { state: 'holds', expected: '', came: '' }
    case 'broken':
      return { state: 'broken', expected: outcome.expected, came: outcome.came }
    case 'skipped':
      return { state: 'skipped', expected: '', came: outcome.reason }
  }
}
