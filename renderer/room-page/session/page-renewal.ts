import { roomPagePath } from '../../../shared/media/room-page.ts'
import { speaksTls } from '../../kit/transport/secure-origin.ts'
import { keptPass } from '../local/entry-pass.ts'
import { browserSecret } from '../local/browser-secret.ts'
import type { SwitchPositions } from '../local/switch-position.ts'
import { addressElsewhere, goTo, type Handover, keepHandover, secureAddress } from './handover.ts'
import type { JoinRequest } from './signal-client.ts'
import { tabStorage } from '../../kit/storage.ts'

/** A visit that continues in a new page. */
export interface ContinuedVisit {
  request: JoinRequest
  /** Returns whether the site reported this origin as one of its nodes. */
  knows: (origin: string) => boolean
  /** Switches of microphone and camera. */
  left: SwitchPositions
}

/** Timeout of the check that the page's server answers, in milliseconds. */
const answerMs = 4_000
/**
 * Time without an answer of the page's own server after which the page of another node is opened, in milliseconds: a
 * restart takes less.
 */
const goneMs = 10_000
/**
 * Minimum interval between two reloads for the same address, in milliseconds: the new policy may not allow it either.
 */
const againMs = 60_000
const storageKey = 'roomdesk.renewed'

/**
 * Continues a visit in a new page: at https once the node uses TLS, and by a reload once the page's content security
 * policy blocks a node of the site. The policy allows only the nodes that existed when the page was loaded.
 */
export class PageRenewal {
  readonly #home: string
  readonly #visit: () => ContinuedVisit | undefined
  #checking = false
  /** Time of the first blocked attempt without an answer of the page's server; 0: it has answered. */
  #blockedAt = 0

  /** @param home origin of this page */
  constructor(home: string, visit: () => ContinuedVisit | undefined) {
    this.#home = home
    this.#visit = visit
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      const blocked = URL.parse(blockedURI.replace(/^ws/, 'http'))?.origin
      if (effectiveDirective === 'connect-src' && blocked !== undefined) void this.#reload(blocked)
    })
  }

  /** Continues at https if the node uses TLS now. Otherwise a later attempt checks again. */
  async toHttps(): Promise<void> {
    const visit = await this.#checked(() => speaksTls(`${this.#home}${roomPagePath}`))
    if (visit === undefined) return
    goTo(secureAddress(location, visit.request.token, handoverOf(visit)))
  }

  async #reload(blocked: string): Promise<void> {
    if (this.#visit()?.knows(blocked) !== true) return
    let isThere = false
    const visit = await this.#checked(async () => {
      isThere = await answers(`${this.#home}${roomPagePath}`)
      return true
    })
    if (visit === undefined) return
    if (!isThere) return this.#goElsewhere(blocked, visit)
    this.#blockedAt = 0
    if (mayReload(blocked) && keepHandover(handoverOf(visit))) location.reload()
  }

  /**
   * Opens the page of another node, at the entrance: a page accepts no handover from another origin, because any site
   * could have made it.
   */
  #goElsewhere(node: string, { request: { roomId, token }, left }: ContinuedVisit): void {
    this.#blockedAt ||= Date.now()
    if (Date.now() - this.#blockedAt > goneMs) location.assign(addressElsewhere(node, roomId, token, left))
  }

  /** Returns the current visit if a check succeeds and the visit is still the same. */
  async #checked(check: () => Promise<boolean>): Promise<ContinuedVisit | undefined> {
    const before = this.#visit()
    if (this.#checking || before === undefined) return undefined
    this.#checking = true
    const succeeded = await check()
    this.#checking = false
    const now = this.#visit()
    return succeeded && now?.request === before.request ? now : undefined
  }
}

function handoverOf({ request: { roomId, userName, hostPassword }, left }: ContinuedVisit): Handover {
  return { userName, hostPassword, pass: keptPass(roomId), browser: browserSecret(), ...left, at: Date.now() }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(answerMs) })).ok
  } catch {
    return false
  }
}

/** Returns whether the page was not reloaded for this address recently, and stores the time of this reload. */
function mayReload(origin: string): boolean {
  const now = Date.now()
  const [before, at] = (tabStorage.get(storageKey) ?? '').split(' ')
  if (before === origin && now - Number(at) < againMs) return false
  // Without storage, nothing would prevent a loop.
  return tabStorage.set(storageKey, `${origin} ${now}`)
}
