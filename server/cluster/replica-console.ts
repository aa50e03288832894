import { sleepOn, monotonic, wallClock } from '../store/system/time.ts'
import type { Logger } from 'pino'
import { refusal } from '../../shared/refusals/refusal.ts'
import { accountAccess } from '../access/accounts/account-access.ts'
import { Callers, endsSessions } from '../console/callers.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import { ConsoleListener } from '../console/console-listener.ts'
import { EventHub } from '../console/event-hub.ts'
import { ControllerWatch, type SiteControllers } from '../console/site-controllers.ts'
import type { KeptPorts } from '../edge/kept-ports.ts'
import type { RequestProof } from '../edge/request-proof.ts'
import { StaticFiles } from '../edge/static-files.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import { recordSignIns } from '../event-log/sources/access.ts'
import type { ListenerName, Port } from '../http/listeners.ts'
import { soleLeadership } from '../store/leadership.ts'
import type { FollowedSite } from './followed-site.ts'
import { LeaderConsole, LeaderEvents } from './leader-console.ts'
import type { LeaderResolver } from './leader-resolver.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { pageHalfHeader } from '../../shared/console/session-halves.ts'
import type { AccountSessions } from '../access/accounts/account-sessions.ts'
import { resultOfError, refused, httpStatusOf } from '../console/console-answer.ts'
import type { LeaderEntrance, BegunSession } from '../console/entrance.ts'
import { clusterTimes } from '../store/election/timings.ts'
import type { ConsoleResult } from '../../shared/domain/outcome.ts'
import type { GatedDispatch, Dispatch } from '../console/dispatch.ts'
import type { CallOrigin } from '../console/handlers.ts'
import { refuseCaller } from '../console/caller-permissions.ts'
import { isPassedOnCall } from '../console/passed-on-calls.ts'
import { unproven } from '../gate/gate.ts'
import type { Log } from '../observe/log.ts'
import { Registry, Gauge, Counter } from 'prom-client'
import { addControllerGauges, type ControllerMetricSources } from '../observe/gauges.ts'

/** Message for callers who are not signed in, because PostgreSQL's own messages name hosts, users and databases. */
const databaseAway = 'the database cannot be reached'

interface ReplicaConsoleOptions {
  /** Folder of the built page. */
  page: string
  site: FollowedSite
  controllers: SiteControllers
  key: ConsoleKey
  events: SharedEventLog
  proof: RequestProof
  kept: KeptPorts
  tls: () => TlsMaterial | undefined
  resolver: LeaderResolver
  version: string
  /** Start of the controller, in milliseconds since the epoch. */
  startedAt: number
  /** Number of restarts of this program after unexpected errors. */
  restarts: number
  unreachable: () => readonly ListenerName[]
  /** Returns the numbers of forwarded requests, by outcome. */
  counts: () => { answered: number; refused: number }
  connections: () => Promise<Readonly<Record<string, number>>>
  logger: Logger
}

/** Makes the console of a replica, which is read-only and returns the leader's answers. */
export function replicaConsole(options: ReplicaConsoleOptions): Port & { end(): void } {
  const { site, controllers, key, proof, kept, resolver, logger } = options
  const { accountSessions, accessTokens, signIn } = accountAccess(site)
  const waitMs = (): number => site.settings().deadlines.store_ms
  const leaderReachable = (): boolean => controllers.leader() !== undefined && resolver.unreachable.size === 0
  const leader = new LeaderConsole(resolver, proof, waitMs)
  const hub = new EventHub()
  const watch = new ControllerWatch({
    ...{ site: controllers, hub, sink: options.events },
    unreachable: options.unreachable,
  })
  const leaderUrl = (): string => controllers.leader()?.place.console ?? ''
  const dispatch = readOnlyDispatch({
    controllers: watch,
    ask: (name, input, origin) => leader.call(name, input, origin),
    leaderUrl,
    log: logger,
  })
  const listener = new ConsoleListener({
    dispatch,
    // The replicated state determines who may read; the leader checks each call again.
    leadership: soleLeadership(site),
    hub,
    key,
    callers: new Callers(key, site, accountSessions, accessTokens),
    signIn,
    sessions: accountSessions,
    leader: leaderSignIn(leader, accountSessions),
    page: new StaticFiles(options.page),
    noRecordings: () => {
      const url = leaderUrl()
      return url === '' ? refusal('standbyAlone') : refusal('recordingsAtLeader', { leader: url })
    },
    logger,
    metrics: replicaMetrics({
      controllers: watch.metrics(),
      passedOn: options.counts,
      waiting: () => resolver.waiting,
      leaderReachable,
      connections: options.connections,
      restarts: options.restarts,
    }),
    certificate: options.tls,
    publicUrl: () => site.settings().media.public_url,
    metricsNeedToken: () => site.settings().console.metrics_token,
    health: (known, byLeader) => {
      const { awaySince, error } = byLeader ? controllers.answerLeader() : controllers.database()
      const body = {
        ok: false,
        role: 'standby',
        // A leader that cannot reach the database compares this epoch with its own.
        epoch: controllers.knownEpoch?.() ?? '',
        version: options.version,
        uptime_s: Math.round((wallClock() - options.startedAt) / 1_000),
        store: awaySince === 0 ? 'ok' : known ? error : databaseAway,
        leader: controllers.leader()?.name ?? '',
        leader_reachable: leaderReachable(),
      }
      return { ok: false, body }
    },
    signIns: recordSignIns(options.events),
    proof,
    kept,
  })
  const leaderEvents = new LeaderEvents({
    ...{ hub, resolver, console: leader, log: logger },
    // Without the database, this controller does not receive the end of sessions.
    mayShow: () => controllers.database().awaySince === 0,
    began: () => listener.restartConsoles(),
  })
  watch.start()
  const stopFollowing = site.onChange(() => listener.reviewSessions(), endsSessions)
  const end = (): void => {
    leaderEvents.close()
    watch.stop()
    stopFollowing()
  }
  return {
    start: (host, port, tls) => listener.start(host, port, tls),
    stop: (deadlineMs) => listener.stop(deadlineMs),
    letGo: () => listener.letGo(),
    secure: (tls) => listener.secure(tls),
    connections: () => listener.connections(),
    get url() {
      return listener.url
    },
    end,
  }
}

/**
 * Signs users in and out at a replica. The leader checks, counts and stores sign-ins; the replica forwards the leader's
 * answer.
 */
function leaderSignIn(console: LeaderConsole, sessions: Pick<AccountSessions, 'check'>): LeaderEntrance {
  return {
    async signIn(offered, { client, browser }) {
      try {
        const { status, headers, body } = await console.ask('POST', '/session', client, {
          headers: { 'user-agent': browser },
          body: JSON.stringify(offered),
        })
        const retryAfter = headers['retry-after']
        const session = status === 204 ? begunSession(headers) : undefined
        if (session !== undefined) await isKnown(sessions, session)
        return { status, body: body === '' ? undefined : JSON.parse(body), retryAfter, session }
      } catch (error) {
        const body = resultOfError(error) ?? refused(refusal('leaderSilent'))
        return { status: httpStatusOf.failed, body, retryAfter: undefined, session: undefined }
      }
    },
    async signOut(headers, client) {
      // The browser has dropped the session already. If the leader is unreachable, the session expires on its own.
      await console.ask('DELETE', '/session', client, { headers }).catch(() => undefined)
    },
  }
}

function begunSession(headers: IncomingHttpHeaders): BegunSession | undefined {
  const cookie = /^[\w-]+=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '')?.[1]
  const half = headers[pageHalfHeader]
  return cookie === undefined || typeof half !== 'string' ? undefined : { cookie, half }
}

async function isKnown(sessions: Pick<AccountSessions, 'check'>, { cookie, half }: BegunSession): Promise<void> {
  const end = monotonic() + clusterTimes.readSession
  while (sessions.check(cookie, { half }) === undefined && monotonic() < end)
    await sleepOn(clusterTimes.readSessionCheck)
}

interface ReadOnlyConsole {
  controllers: Pick<ControllerWatch, 'list'>
  /** Calls a procedure of the leader's console for a caller who signed in here. */
  ask: (name: string, input: unknown, origin: CallOrigin) => Promise<ConsoleResult<unknown>>
  /** Returns the URL of the leader's console; empty: no leader. */
  leaderUrl: () => string
  log: Log
}

/**
 * Makes the procedures of a replica: reads are forwarded to the leader, changes are refused with the leader's address.
 */
function readOnlyDispatch({ controllers, ask, leaderUrl, log }: ReadOnlyConsole): GatedDispatch {
  const dispatch: Dispatch = async (name, input, origin) => {
    try {
      // The leader refuses callers without the permission, so this controller must too.
      if (name === 'controllers.list' && refuseCaller(name, origin) === undefined)
        return { ok: true, value: await controllers.list() }
      if (!isPassedOnCall(name)) {
        const url = leaderUrl()
        return refused(url === '' ? refusal('standbyAlone') : refusal('standby', { leader: url }))
      }
      return await ask(name, input, origin)
    } catch (error) {
      const known = resultOfError(error)
      if (known !== undefined) return known
      log.error({ err: error, procedure: name }, 'a console procedure failed')
      return refused(refusal('unexpected'))
    }
  }
  return unproven('the leader answers', dispatch)
}

interface ReplicaMetricSources {
  controllers: ControllerMetricSources
  /** Returns the numbers of forwarded requests with and without an answer. */
  passedOn(): { answered: number; refused: number }
  /** Returns the number of requests that wait for a leader. */
  waiting(): number
  /** Whether this controller reaches every port of the leader. */
  leaderReachable(): boolean
  connections(): Promise<Readonly<Record<string, number>>>
  /** Number of restarts of the program after an unexpected error. */
  restarts: number
}

/** Makes the metrics of a replica's `/metrics`. */
function replicaMetrics(sources: ReplicaMetricSources): () => Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  addControllerGauges(registry, sources.controllers)
  const passedOn = new Gauge({
    name: 'roomdesk_standby_requests',
    help: 'Requests that were passed on to the leader since this controller stands by, by whether they were answered.',
    labelNames: ['answered'],
    registers,
  })
  const waiting = new Gauge({ name: 'roomdesk_standby_waiting', help: 'Requests that wait for a leader.', registers })
  const reachable = new Gauge({
    name: 'roomdesk_leader_reachable',
    help: '1 while this controller can reach every port of the leader, 0 while it cannot, or there is no leader: it cannot pass requests on then.',
    registers,
  })
  const connections = new Gauge({
    name: 'roomdesk_connections',
    help: 'Open connections by listener.',
    labelNames: ['listener'],
    registers,
  })
  const restarts = new Counter({
    name: 'roomdesk_restarts_total',
    help: 'Times that the controller started itself again after an unexpected error, since somebody started it.',
    registers,
  })
  restarts.inc(sources.restarts)
  return async () => {
    const { answered, refused } = sources.passedOn()
    passedOn.set({ answered: 'yes' }, answered)
    passedOn.set({ answered: 'no' }, refused)
    waiting.set(sources.waiting())
    reachable.set(Number(sources.leaderReachable()))
    for (const [listener, open] of Object.entries(await sources.connections())) connections.set({ listener }, open)
    return await registry.metrics()
  }
}
