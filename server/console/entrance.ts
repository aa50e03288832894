import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { Logger } from 'pino'
import { z } from 'zod'
import { accountName } from '../../shared/console/accounts.ts'
import {
  downloadPrefix,
  pageHalfHeader,
  sessionStateParameter,
  ticketParameter,
} from '../../shared/console/session-halves.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { passwordLength } from '../../shared/console/password-rules.ts'
import { tokenKinds } from '../../shared/tokens.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { tokenPrefix } from '../access/accounts/access-tokens.ts'
import type { SignIn } from '../access/accounts/sign-in.ts'
import { clientAddress, ClientRateLimit } from '../edge/client-address.ts'
import { provenRequest } from '../edge/passed-on.ts'
import type { ConsoleCaller, Callers } from './callers.ts'
import { fail, failUntil } from './console-answer.ts'
import type { ConsoleKey } from './console-key.ts'
import { callerHeader, isCallOfKeyHolder, keyShownHeader, wasKeyShown } from './passed-on-calls.ts'
import { cookieHeader, isSecure, pageProof, sessionCookie, sessionHeaders } from './request-origin.ts'

/**
 * Receiver of successful and failed sign-ins. `account`: name of the account; empty for the console key and for unknown
 * accounts.
 */
export interface SignInSink {
  accepted(client: string, account: string): void
  refused(client: string, blocked: boolean, account: string): void
}

export interface EntranceDependencies {
  callers: Callers
  key: ConsoleKey
  signIn: SignIn
  sessions: AccountSessions
  signIns: SignInSink
  /** Sign-in at the leader, set on a replica: the leader creates and ends sessions of accounts. */
  leader?: LeaderEntrance | undefined
  logger: Logger
}

/** Secrets of a new session: the cookie, and the page's half of the session secret. */
export interface BegunSession {
  cookie: string
  half: string
}

/** Signs accounts in and out at the leader, for a replica. */
export interface LeaderEntrance {
  /**
   * Sends a name and a password to the leader. Resolves once this replica has received the created session.
   * @returns status and body of the response; `session`: the created session
   */
  signIn(
    offered: { name: string; password: string },
    from: { client: string; browser: string },
  ): Promise<{ status: number; body: unknown; retryAfter: string | undefined; session: BegunSession | undefined }>
  /** @param shown headers that identify the session */
  signOut(shown: Record<string, string>, client: string): Promise<void>
}

const keyBody = z.strictObject({ key: z.string().max(200) })
const passwordBody = z.strictObject({ name: accountName, password: z.string().max(passwordLength.most * 2) })

const ticketBody = z.strictObject({
  path: z
    .string()
    .max(200)
    .startsWith(downloadPrefix)
    .regex(/^[\w/-]+$/),
})

/** Authentication of the console over HTTP: signs in and out, and identifies the caller of a request. */
export class Entrance {
  readonly #dependencies: EntranceDependencies
  readonly #guard = new KeyGuard()

  constructor(dependencies: EntranceDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the caller of a request, by the bearer token of a script or the session of a page. */
  callerOf(request: IncomingMessage): ConsoleCaller | undefined {
    const bearer = bearerOf(request)
    if (bearer === undefined) return this.sessionOf(request)
    const shown = { authorization: `Bearer ${bearer}` }
    return this.#forLeader(request, this.#dependencies.callers.ofBearer(bearer), shown)
  }

  /**
   * Returns the caller of the request's session, if it is valid. On a replica, holders of the console key can also make
   * calls to the leader.
   */
  sessionOf(request: IncomingMessage): ConsoleCaller | undefined {
    const { callers } = this.#dependencies
    if (isCallOfKeyHolder(request)) return callers.remoteKeyHolder(wasKeyShown(request))
    const cookie = sessionCookie(request)
    const proof = pageProof(request)
    const shown = 'half' in proof ? sessionHeaders(cookie, proof.half) : {}
    return this.#forLeader(request, callers.ofSession(cookie, proof), shown)
  }

  /**
   * Adds headers with which the leader authenticates the caller. The console key belongs to this machine and is not
   * valid at the leader. A request of another controller is never forwarded again.
   */
  #forLeader(
    request: IncomingMessage,
    caller: ConsoleCaller | undefined,
    shown: Record<string, string>,
  ): ConsoleCaller | undefined {
    if (caller === undefined || provenRequest(request) !== undefined) return caller
    const byKey = caller.way === 'key' || caller.way === 'key_session'
    const { callers } = this.#dependencies
    const keyShown = (): string => (callers.isFresh(caller) ? 'yes' : 'no')
    return {
      ...caller,
      forLeader: () => (byKey ? { [callerHeader]: 'key', [keyShownHeader]: keyShown() } : shown),
    }
  }

  /** `GET /session`: returns whether there is a session; if not, the possible ways to sign in. */
  tell(context: Context): void {
    const { callers } = this.#dependencies
    context.set('Cache-Control', 'no-store')
    if (this.sessionOf(context.req) !== undefined) {
      context.status = 204
      return
    }
    context.status = context.query[sessionStateParameter] === undefined ? 401 : 200
    context.body = { password: callers.passwordCounts, key: callers.keyCounts }
  }

  /** `POST /session`: exchanges the console key, or a name and a password, for a session. */
  async signIn(context: Context, body: unknown): Promise<void> {
    const withPassword = passwordBody.safeParse(body)
    if (withPassword.success) return await this.#byPassword(context, withPassword.data)
    const withKey = keyBody.safeParse(body)
    if (!withKey.success) return fail(context, refusal('signInMalformed'))
    const { key, callers, signIns } = this.#dependencies
    if (!callers.keyCounts) return fail(context, refusal('keyOff'))
    if (!this.#judged(context, key.matches(withKey.data.key), 'keyWrong')) return
    const caller = this.sessionOf(context.req)
    signIns.accepted(clientAddress(context.req), '')
    // The session is confirmed and not replaced, so that the WebSocket of the page stays open.
    if (caller?.way === 'key_session' && caller.session !== undefined) {
      key.confirm(caller.session)
      context.status = 204
      return
    }
    this.#begin(context, key.openSession())
  }

  /**
   * `POST /tickets`: exchanges the page's half of the session secret for a ticket for one download, because browsers
   * add no headers to downloads.
   */
  issueTicket(context: Context, body: unknown): void {
    const { data } = ticketBody.safeParse(body)
    if (data === undefined) return fail(context, refusal('ticketMalformed', { prefix: downloadPrefix }))
    const ticket = this.#dependencies.callers.ticket(sessionCookie(context.req), pageProof(context.req), data.path)
    if (ticket === undefined) return fail(context, refusal('noSession'))
    context.set('Cache-Control', 'no-store')
    context.body = { url: `${data.path}?${ticketParameter}=${ticket}` }
  }

  /**
   * `DELETE /session`: ends the session for every holder of its cookie. A session of an account ends at all
   * controllers.
   */
  async signOut(context: Context): Promise<void> {
    const caller = this.sessionOf(context.req)
    context.set('Set-Cookie', cookieHeader('', 0, isSecure(context.req)))
    const { leader, sessions, key } = this.#dependencies
    if (caller?.way === 'key_session') key.endSession(sessionCookie(context.req))
    if (caller?.way === 'password' && caller.session !== undefined) {
      if (leader === undefined) await sessions.end(caller.session)
      else await leader.signOut(caller.forLeader?.() ?? {}, clientAddress(context.req))
    }
    context.status = 204
  }

  /** Returns the caller of a request; for an unknown caller, sends the refusal and returns undefined. */
  authorised(context: Context): ConsoleCaller | undefined {
    const caller = this.callerOf(context.req)
    if (caller !== undefined) return caller
    const bearer = bearerOf(context.req)
    const { keyCounts } = this.#dependencies.callers
    if (bearer !== undefined) {
      const wrong = bearer.startsWith(tokenPrefix) ? 'tokenWrong' : keyCounts ? 'keyWrong' : 'keyOffToken'
      this.#judged(context, false, wrong)
      return undefined
    }
    context.set('WWW-Authenticate', 'Bearer')
    fail(context, refusal(keyCounts ? 'tokenOrKeyMissing' : 'tokenMissing'))
    return undefined
  }

  async #byPassword(context: Context, { name, password }: z.output<typeof passwordBody>): Promise<void> {
    const { signIn, sessions, signIns, logger, leader } = this.#dependencies
    const client = clientAddress(context.req)
    if (leader !== undefined) return await this.#byLeader(context, leader, { name, password }, client)
    const judged = await signIn.judge(client, name, password)
    if (judged.verdict === 'right') {
      const browser = context.get('User-Agent')
      const begun = sessions.open(judged.account, { address: client, browser })
      signIns.accepted(client, judged.account.name)
      return this.#begin(context, begun)
    }
    // A user may have typed the password into the name field, so only existing names are recorded.
    const meant = judged.account?.name ?? ''
    signIns.refused(client, judged.verdict === 'blocked', meant)
    if (judged.verdict === 'blocked') return failUntil(context, judged.retryAfter, 'tooManySignIns')
    logger.warn({ client, account: meant }, 'a wrong password was offered')
    fail(context, refusal('signInWrong'))
  }

  /** Signs in at the leader and sends its response. The leader counts and records wrong passwords. */
  async #byLeader(
    context: Context,
    leader: LeaderEntrance,
    offered: { name: string; password: string },
    client: string,
  ): Promise<void> {
    const { status, body, retryAfter, session } = await leader.signIn(offered, {
      client,
      browser: context.get('User-Agent'),
    })
    if (session !== undefined) return this.#begin(context, session)
    context.status = status
    if (retryAfter !== undefined) context.set('Retry-After', retryAfter)
    context.body = body
  }

  /**
   * Sends both halves of the session secret: one in the cookie, the page's half in a header that only the page's own
   * origin can read.
   */
  #begin(context: Context, { cookie, half }: BegunSession): void {
    context.set(
      'Set-Cookie',
      cookieHeader(cookie, tokenKinds['account-session'].lifetime.ms / 1_000, isSecure(context.req)),
    )
    context.set(pageHalfHeader, half)
    context.set('Cache-Control', 'no-store')
    context.status = 204
  }

  /** Returns whether a key or token is right. If the key or token is wrong, sends the refusal. */
  #judged(context: Context, right: boolean, name: 'keyWrong' | 'keyOffToken' | 'tokenWrong'): boolean {
    const client = clientAddress(context.req)
    const judged = this.#guard.judge(client, right)
    if (judged.verdict === 'right') return true
    this.#dependencies.signIns.refused(client, judged.verdict === 'blocked', '')
    if (judged.verdict === 'blocked') failUntil(context, judged.retryAfter, 'tooManyKeys')
    else {
      this.#dependencies.logger.warn({ client }, 'a wrong console key or access token was offered')
      fail(context, refusal(name))
    }
    return false
  }
}

/** Returns the bearer token of a script; undefined if there is none. */
function bearerOf({ headers }: IncomingMessage): string | undefined {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
}

/** Verdict on a presented key or token. */
type KeyVerdict = { verdict: 'right' } | { verdict: 'wrong' } | { verdict: 'blocked'; retryAfter: number }

/**
 * Limits wrong keys and tokens. Five wrong attempts per minute and client address are answered; further wrong attempts
 * are refused until the minute has passed. A right key is always accepted, so that an attacker at the operator's
 * address (a proxy, a NAT) cannot lock out the operator. Guessing is infeasible, because each key has at least 128
 * bits.
 */
class KeyGuard {
  readonly #wrong: ClientRateLimit

  constructor(perMinute = 5) {
    this.#wrong = new ClientRateLimit({ max: perMinute, windowMs: 60_000 })
  }

  /** @returns the verdict; `retryAfter` in seconds */
  judge(client: string, right: boolean): KeyVerdict {
    if (right) return { verdict: 'right' }
    if (this.#wrong.reached(client)) {
      return { verdict: 'blocked', retryAfter: this.#wrong.retryAfterSeconds(client) }
    }
    this.#wrong.take(client)
    return { verdict: 'wrong' }
  }
}
