import { LRUCache } from 'lru-cache'
import type { ClientCheckView, ClientWatchView } from '../../../shared/console/clients.ts'
import { sourceText } from '../conformance/verdict.ts'
import type { ClientCheck, Judge, WatchedSite } from './check.ts'
import { allChecks } from './checks/all-checks.ts'
import type { WatchedCall } from './watched-call.ts'

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
export class ClientWatch {
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
export function uncheckedViews(): ClientCheckView[] {
  return allChecks.map((check) => viewOf({ check, right: 0, wrong: 0, example: null }))
}

function viewOf({ check, right, wrong, example }: Omit<RunningCheck, 'judge'>): ClientCheckView {
  const { id, source, fault } = check
  const provoking = fault === undefined ? null : { ret: null, delay_ms: 0, drop: false, ...fault }
  return { id, source: sourceText(source), right, wrong, example, fault: provoking }
}
