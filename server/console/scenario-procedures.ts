import type { ScenarioPreview } from '../../shared/console/scenarios.ts'
import type { EventEntry } from '../../shared/domain/events.ts'
import { type ConsoleResult, RefusalError } from '../../shared/domain/outcome.ts'
import type { WordedText } from '../../shared/domain/worded-text.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import type { Settings } from '../../shared/settings.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import type { PendingEvents } from '../event-log/pending-events.ts'
import { entryPages } from '../event-log/read-log.ts'
import type { FaultRules } from '../lab/faults.ts'
import { bundledScenarios, bundledText } from '../lab/scenarios/bundled.ts'
import { maxScenarioBytes, maxSteps, readScenario, type Scenario, ScenarioFileError } from '../lab/scenarios/format.ts'
import type { IncidentRecord } from '../lab/scenarios/incident-steps.ts'
import { incidentOf, IncidentTooLongError } from '../lab/scenarios/incident.ts'
import { planOf } from '../lab/scenarios/run.ts'
import type { ScenarioRuns } from '../lab/scenarios/scenario-runs.ts'
import { effectsOf, hindrancesOf, type SiteBefore } from '../lab/scenarios/site-changes.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { carriesMedia } from '../nodes/port/node-driver.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { RequestJournal } from '../observe/request-journal.ts'
import type { Store } from '../store/store.ts'
import type { CallOrigin, ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { licenceOf } from './site-procedures.ts'

interface ScenarioHandlersDependencies extends IncidentSources {
  settings: () => Settings
  faults: FaultRules
  scenarios: ScenarioRuns
  /** Calls a procedure of the console. */
  dispatch: (name: string, input: unknown, origin: CallOrigin) => Promise<ConsoleResult<unknown>>
}

/** Procedures of scenarios on this site. */
export function scenarioHandlers(
  dependencies: ScenarioHandlersDependencies,
): ProcedureHandlers<ProceduresOf<'scenarios'>> {
  const { store, settings, faults, scenarios, dispatch } = dependencies
  const before = (): SiteBefore => ({
    settings: settings(),
    licence: licenceOf(store),
    faults: faults.list(),
    credentials: new Set(store.all('credentials').keys()),
    nodes: new Set(store.all('nodes').keys()),
    carriesMedia: [...store.all('nodes').values()].some((node) => node.enabled && carriesMedia(node)),
    cameras: new Set(store.all('test_cameras').keys()),
    people: new Set(store.all('test_people').keys()),
  })
  return {
    'scenarios.list': () => ({ bundled: bundledScenarios().map(summaryOf), run: scenarios.run }),
    'scenarios.text': ({ name }) => {
      const text = bundledText(name)
      if (text === undefined) throw new RefusalError(refusal('scenarioNotFound'))
      return { text }
    },
    'scenarios.check': ({ text }) => {
      const site = before()
      try {
        const scenario = readScenario(text)
        return { problems: [], hindrances: hindrancesOf(scenario, site), preview: previewOf(scenario, site) }
      } catch (error) {
        if (!(error instanceof ScenarioFileError)) throw error
        const problems = error.problems.length > 0 ? [...error.problems] : [error.message]
        return { problems, hindrances: [], preview: null }
      }
    },
    'scenarios.incident': async ({ from, to }) => {
      const until = Math.min(to, Date.now())
      try {
        const { document, name, steps, leftOut } = incidentOf(await incidentRecord(dependencies, from, until))
        if (steps === 0) throw new RefusalError(refusal('incidentEmpty'))
        return { text: textOf(document), name, steps, left_out: leftOut }
      } catch (error) {
        if (!(error instanceof IncidentTooLongError)) throw error
        throw new RefusalError(refusal('incidentTooLong', { steps: error.steps, max: maxSteps }), { cause: error })
      }
    },
    'scenarios.start': async ({ text, seed, pace, paused }, origin) => {
      scenarios.assertIdle()
      const site = before()
      const scenario = requireScenario(text, site)
      return await scenarios.start({
        ...{ scenario, before: site, paused },
        seed: seed ?? scenario.seed,
        pace: pace === 0 ? Infinity : pace,
        call: (name, input) => dispatch(name, input, asStarter(origin)),
        mayContinue: () => isStillAdmin(store, origin),
      })
    },
    'scenarios.steer': ({ action }) => {
      if (action === 'pause') scenarios.pause()
      else if (action === 'resume') scenarios.resumeClock()
      else if (action === 'step') scenarios.step()
      else scenarios.stop()
      const { run } = scenarios
      if (run === null) throw new RefusalError(refusal('scenarioNotRunning'))
      return run
    },
  }
}

function summaryOf({ name, title, description }: Scenario): {
  name: string
  title: WordedText
  description: WordedText
} {
  return { name, title, description }
}

function previewOf(scenario: Scenario, site: SiteBefore): ScenarioPreview {
  const { steps } = planOf(scenario, scenario.seed)
  return {
    ...summaryOf(scenario),
    seed: scenario.seed,
    steps: steps.length,
    length: steps.at(-1)?.at ?? 0,
    effects: effectsOf(scenario, site),
  }
}

/** Returns a scenario's text, without indentation where it would be too long. @throws RefusalError */
function textOf(document: unknown): string {
  const texts = [`${JSON.stringify(document, undefined, 2)}\n`, JSON.stringify(document)]
  const text = texts.find((one) => Buffer.byteLength(one) <= maxScenarioBytes)
  if (text === undefined) throw new RefusalError(refusal('incidentTooLarge'))
  return text
}

/** @throws RefusalError with the first problem of the text, or the first hindrance */
function requireScenario(text: string, site: SiteBefore): Scenario {
  try {
    const scenario = readScenario(text)
    const [hindrance] = hindrancesOf(scenario, site)
    if (hindrance !== undefined) throw new RefusalError(hindrance)
    return scenario
  } catch (error) {
    if (!(error instanceof ScenarioFileError)) throw error
    const [problem = error.message] = error.problems
    throw new RefusalError(refusal('scenarioUnfit', { problem }), { cause: error })
  }
}

/** Returns the origin of a step's calls: the operator who started the scenario, with a recently entered password. */
function asStarter(origin: CallOrigin): CallOrigin {
  return origin.way === undefined ? origin : { ...origin, way: 'key' }
}

function isStillAdmin(store: Store, { accountId }: CallOrigin): boolean {
  if (accountId === undefined) return true
  const account = store.get('accounts', accountId)
  return account?.enabled === true && account.role === 'admin'
}

interface IncidentSources {
  store: Store
  log: SharedEventLog
  pendingEvents: Pick<PendingEvents, 'caughtUp'>
  journal: RequestJournal
  presence: Pick<NodePool['presence'], 'usersOf'>
  deviceState: (userId: string) => string
  product: string
}

const pageSize = 500
/** Maximum number of events that are read; more than a scenario can repeat. */
const maxEvents = 5_000

/** Reads what happened in a stretch, and who is in its rooms now. @param to at most now, in milliseconds since the epoch */
async function incidentRecord(sources: IncidentSources, from: number, to: number): Promise<IncidentRecord> {
  const { store, journal, presence, product, deviceState } = sources
  const events = await eventsOf(sources, from, to)
  const calls = journal
    .list({ since: from, search: '', limit: journal.capacity })
    .items.filter(({ at }) => at <= to)
    .toReversed()
  const ids = new Set([
    ...events.map(({ room, subject }) => (subject.type === 'room' ? subject.id : room)),
    ...calls.map(({ room }) => room),
  ])
  const rooms = [...ids].flatMap((id) => store.get('rooms', id) ?? [])
  const known = new Set(rooms.map(({ room_id }) => room_id))
  return {
    ...{ from, to, product, events, calls, licence: licenceOf(store) },
    nodes: [...store.all('nodes').values()].filter(({ enabled }) => enabled).map(({ name }) => name),
    rooms: new Map(
      rooms.map(({ room_id, topic, room_mode, attendee_max, room_extend_id }) => [
        room_id,
        { topic, room_mode, attendee_max, room_extend_id },
      ]),
    ),
    cameras: [...store.all('devices').values()]
      .filter(({ roomId }) => known.has(roomId))
      .map(({ roomId: room, userId: id, userName: name, userAddress }) => ({
        ...{ room, id, name, state: deviceState(id) },
        address: shownAddress(userAddress),
      })),
    people: rooms.flatMap(({ room_id: room }) =>
      presence
        .usersOf(room)
        .filter(({ device }) => !device)
        .map(({ userId: id, userName: name }) => ({ room, id, name })),
    ),
  }
}

/** Returns the events of a stretch, oldest first. */
async function eventsOf({ log, pendingEvents }: IncidentSources, from: number, to: number): Promise<EventEntry[]> {
  await pendingEvents.caughtUp()
  const found: EventEntry[] = []
  for await (const items of entryPages(log, { from, to }, pageSize)) {
    found.push(...items)
    if (found.length >= maxEvents) break
  }
  return found.toReversed()
}
