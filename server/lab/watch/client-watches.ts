import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ClientCheckView, ClientWatchSummary, ClientWatchView } from '../../../shared/console/clients.ts'
import { type ClientCheckId, clientCheckIds, clientCheckOutcome } from '../../../shared/domain/client-checks.ts'
import type { Credentials } from '../../access/credentials.ts'
import type { Sessions } from '../../access/sessions.ts'
import type { DroppedObservation, Observation, RequestObserver } from '../../observe/observation.ts'
import type { KnownNames } from '../../observe/redaction/redacted-parameters.ts'
import { shownRequest } from '../../observe/redaction/request.ts'
import type { Store } from '../../store/store.ts'
import { sourceText } from '../conformance/verdict.ts'
import type { ClientCheck, Judge, WatchedSite } from './check.ts'
import { connectionChecks } from './checks/connections.ts'
import { refusalChecks } from './checks/refusals.ts'
import { requestChecks } from './checks/requests.ts'
import { roomChecks } from './checks/rooms.ts'
import { signInChecks } from './checks/sign-in.ts'
import { tokenIn, tokenKey, WatchedCall } from './watched-call.ts'

/** Maximum number of watches that are kept; beyond it, the oldest one is removed. */
const maxWatches = 50
/** Results of a watch. */
type WatchResults = Omit<ClientWatchView, 'report_key'>

/** Maximum length of an example, in characters. */
const maxShown = 600

interface ClientWatchesOptions {
  store: Pick<Store, 'get'>
  credentials: Pick<Credentials, 'get' | 'reveal'>
  sessions: Pick<Sessions, 'ownerOf'>
}

/**
 * Watches of API clients, by access_key: each checks the calls of its client until it ends. The results stay in memory
 * until the next watch of the client.
 */
export class ClientWatches implements RequestObserver {
  readonly #options: ClientWatchesOptions
  readonly #watches = new Map<string, ClientWatch>()
  /** Timers of the watches that run. */
  readonly #endings = new Map<string, NodeJS.Timeout>()
  readonly #known: KnownNames

  constructor(options: ClientWatchesOptions) {
    this.#options = options
    const { store } = options
    this.#known = {
      credential: (accessKey) => store.get('credentials', accessKey) !== undefined,
      room: (roomId) => store.get('rooms', roomId) !== undefined,
      user: (userId) => store.get('devices', userId) !== undefined,
    }
  }

  /**
   * Starts a watch, which replaces the last one of the client.
   * @param durationMs until it ends by itself
   * @throws RefusalError without such a credential
   */
  begin(accessKey: string, durationMs: number): void {
    const secret = hash('sha256', this.#options.credentials.reveal(accessKey))
    const site: WatchedSite = {
      isRoom: (roomId) => this.#known.room(roomId),
      isSecret: (text) => hash('sha256', text) === secret,
    }
    this.end(accessKey)
    this.#watches.delete(accessKey)
    const [oldest] = this.#watches.keys()
    if (oldest !== undefined && this.#watches.size >= maxWatches) {
      this.end(oldest)
      this.#watches.delete(oldest)
    }
    this.#watches.set(accessKey, new ClientWatch(site, durationMs))
    this.#endings.set(accessKey, setTimeout(() => this.end(accessKey), durationMs).unref())
  }

  /** Ends the watch of a client, if it runs. */
  end(accessKey: string): void {
    clearTimeout(this.#endings.get(accessKey))
    this.#endings.delete(accessKey)
    const watch = this.#watches.get(accessKey)
    if (watch !== undefined) watch.endsAt = Math.min(watch.endsAt, Date.now())
  }

  /** Returns the watches, the newest first, without those of deleted credentials. */
  list(): ClientWatchSummary[] {
    const keys = [...this.#watches.keys()].filter((accessKey) => this.#known.credential(accessKey))
    return keys.reverse().map((accessKey) => this.#resultsOf(accessKey).summary)
  }

  /** @throws RefusalError without such a credential */
  view(accessKey: string): WatchResults {
    const { summary, checks } = this.#resultsOf(accessKey)
    return { ...summary, checks }
  }

  #resultsOf(accessKey: string): { summary: ClientWatchSummary; checks: ClientCheckView[] } {
    const { label } = this.#options.credentials.get(accessKey)
    const none = { began_at: 0, ends_at: 0, calls: 0, checks: uncheckedViews() }
    const { checks, ...watch } = this.#watches.get(accessKey)?.view() ?? none
    const counts = { wrong: 0, unseen: 0, right: 0 }
    for (const check of checks) counts[clientCheckOutcome(check)] += 1
    const running = this.#endings.has(accessKey)
    return { summary: { access_key: accessKey, label, running, ...watch, ...counts }, checks }
  }

  observe(observation: Observation): void {
    if (this.#endings.size > 0) this.#take(observation, observation.ret)
  }

  observeDropped(observation: DroppedObservation): void {
    if (this.#endings.size > 0) this.#take(observation, undefined)
  }

  #take(observation: DroppedObservation, ret: number | undefined): void {
    const watch = this.#watchOf(observation)
    watch?.take(new WatchedCall(observation, ret), () => shownCall(observation, ret, this.#known))
  }

  /** Returns the watch of the client that sent a call. A refused token is that of the client that used it before. */
  #watchOf({ credential, params }: DroppedObservation): ClientWatch | undefined {
    const token = credential === '' ? tokenIn(params) : ''
    const accessKey = credential || (token === '' ? '' : this.#options.sessions.ownerOf(token))
    if (this.#endings.has(accessKey)) return this.#watches.get(accessKey)
    if (token === '' || accessKey !== '') return undefined
    const digest = tokenKey(token)
    for (const running of this.#endings.keys()) {
      const watch = this.#watches.get(running)
      if (watch?.hasToken(digest) === true) return watch
    }
    return undefined
  }
}

/** Returns a call for people, without secrets. */
function shownCall(observation: DroppedObservation, ret: number | undefined, known: KnownNames): string {
  const { method, path, params, msg } = shownRequest({ ...observation, ret: ret ?? -1 }, known)
  const list = Object.entries(params).map(([name, value]) => `${name}=${value}`)
  const call = `${method} ${path}${list.length === 0 ? '' : `?${list.join('&')}`}`
  const answer = ret === undefined ? 'no answer' : `ret ${ret}${msg === '' ? '' : `, ${msg}`}`
  return `${call.length > maxShown ? `${call.slice(0, maxShown)}…` : call} → ${answer}`
}

/** Maximum number of tokens by which calls are attributed to a client. */
const maxTokens = 1_000

/** A check with its results. */
interface RunningCheck {
  readonly check: ClientCheck
  readonly judge: Judge
  right: number
  wrong: number
  example: ClientCheckView['example']
}

/** Watch of one client: counts, and one example for each check. It keeps no calls. */
class ClientWatch {
  readonly beganAt = Date.now()
  endsAt: number
  #calls = 0
  readonly #checks: readonly RunningCheck[]
  readonly #tokens = new LRUCache<string, true>({ max: maxTokens })

  /** @param durationMs until its end */
  constructor(site: WatchedSite, durationMs: number) {
    this.endsAt = this.beganAt + durationMs
    this.#checks = allChecks.map((check) => {
      return { check, judge: check.start(site), right: 0, wrong: 0, example: null }
    })
  }

  /** Whether a token was accepted as that of the client. The session may have ended since. */
  hasToken(token: string): boolean {
    return this.#tokens.has(token)
  }

  /** Judges a call. @param shown returns the call without secrets */
  take(call: WatchedCall, shown: () => string): void {
    this.#calls += 1
    if (call.observation.credential !== '' && call.token !== '') this.#tokens.set(call.token, true)
    for (const one of this.#checks) {
      const isRight = one.judge(call)
      if (isRight === true) one.right += 1
      if (isRight !== false) continue
      one.wrong += 1
      one.example = { at: call.observation.at, call: shown() }
    }
  }

  view(): Pick<ClientWatchView, 'began_at' | 'ends_at' | 'calls' | 'checks'> {
    return { began_at: this.beganAt, ends_at: this.endsAt, calls: this.#calls, checks: this.#checks.map(viewOf) }
  }
}

/** Returns the checks of a client that was not watched. */
function uncheckedViews(): ClientCheckView[] {
  return allChecks.map((check) => viewOf({ check, right: 0, wrong: 0, example: null }))
}

function viewOf({ check, right, wrong, example }: Omit<RunningCheck, 'judge'>): ClientCheckView {
  const { id, source, fault } = check
  const provoking = fault === undefined ? null : { ret: null, delay_ms: 0, drop: false, ...fault }
  return { id, source: sourceText(source), right, wrong, example, fault: provoking }
}

/** Checks of clients, in the order of the report. */
export const allChecks: readonly ClientCheck[] = [
  ...signInChecks,
  ...requestChecks,
  ...refusalChecks,
  ...roomChecks,
  ...connectionChecks,
].sort((one, other) => placeOf(one.id) - placeOf(other.id))

function placeOf(id: ClientCheckId): number {
  return clientCheckIds.indexOf(id)
}
