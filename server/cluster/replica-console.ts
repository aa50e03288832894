import { wallClock } from '../store/system/time.ts'
import type { Logger } from 'pino'
import { refusal } from '../../shared/refusals/refusal.ts'
import { accountAccess } from '../access/accounts/account-access.ts'
import { Callers } from '../console/callers.ts'
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
import { endsSessions } from '../console/ends-sessions.ts'
import { soleLeadership } from '../store/leadership.ts'
import type { FollowedSite } from './followed-site.ts'
import { LeaderConsole } from './leader-console.ts'
import { LeaderEvents } from './leader-events.ts'
import { leaderSignIn } from './leader-sign-in.ts'
import type { LeaderResolver } from './leader-resolver.ts'
import { readOnlyDispatch } from './read-only-dispatch.ts'
import { replicaMetrics } from './replica-metrics.ts'

/** Message for callers who have not signed in: PostgreSQL's own names hosts, users and databases. */
const databaseAway = 'the database cannot be reached'

/** Parts of the console of a replica. */
export interface ReplicaConsoleOptions {
  /** Folder of the built page. */
  page: string
  site: FollowedSite
  controllers: SiteControllers
  key: ConsoleKey
  events: SharedEventLog
  proof: RequestProof
  kept: KeptPorts
  tls: () => TlsMaterial | undefined
  way: LeaderResolver
  version: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** Restarts of this program after unexpected errors. */
  restarts: number
  /** Ports of the leader that cannot be reached. */
  unreachable: () => readonly ListenerName[]
  /** Numbers of requests that were passed on. */
  counts: () => { answered: number; refused: number }
  connections: () => Promise<Readonly<Record<string, number>>>
  logger: Logger
}

/** Makes the console of a replica: it reads, by the leader's answers. */
export function replicaConsole(options: ReplicaConsoleOptions): Port & { end(): void } {
  const { site, controllers, key, proof, kept, way, logger } = options
  const { accountSessions, accessTokens, signIn } = accountAccess(site)
  const waitMs = (): number => site.settings().deadlines.store_ms
  const leaderReachable = (): boolean => controllers.leader() !== undefined && way.unreachable.size === 0
  const leader = new LeaderConsole(way, proof, waitMs)
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
    // What it follows decides who may ask; the leader judges each call again.
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
      waiting: () => way.waiting,
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
        // Compared by a leader that cannot reach the database.
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
    ...{ hub, way, console: leader, log: logger },
    // Sessions that ended since are unknown here.
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
