import type { Backoff } from '../../../shared/backoff.ts'

/** Times of the election of a leader, in milliseconds. Tests shorten them. */
export interface ElectionTimes {
  /** Time without a renewal after which a leader counts as frozen. */
  lease: number
  /** Interval of reports. */
  renew: number
  /**
   * Minimum validity of a proof: the time for which it lets a leader answer from memory, and for which a takeover
   * waits.
   */
  reads: number
  /** Maximum validity of a proof, if the database is slow: see `readsFor`. */
  maxReads: number
  /** Interval of proofs. */
  prove: number
  /** Additional wait of a takeover, because the clocks of two machines do not run at the same rate. */
  margin: number
  /** Interval between attempts of a replica to lead. */
  attempt: number
  /** Interval of checks of a replica for new lines without a notification. */
  poll: number
  /** Time for which other controllers wait for a named successor. */
  successor: number
  /**
   * Time in which the leader may reconnect first, after a replica lost its own database connection or could not
   * register with the leader.
   */
  comeBack: number
  /** Time for the database to prove a lease before the leader asks the other controllers. */
  proof: number
  /**
   * Deadline of the other controllers' answers. A leader that cannot have been replaced answers from memory for the
   * same time.
   */
  ask: number
  /** Delay before a leader asks again, while a replica reaches the database and is about to take over. */
  askAgain: number
}

export const electionTimes: ElectionTimes = {
  lease: 3_000,
  renew: 1_000,
  reads: 500,
  maxReads: 2_500,
  prove: 150,
  margin: 100,
  attempt: 100,
  poll: 250,
  successor: 2_000,
  comeBack: 3_000,
  proof: 300,
  ask: 500,
  askAgain: 100,
}

/** All other times of a site with several controllers, in milliseconds. */
export const clusterTimes = {
  /** Deadline of a connection to a host of the database; afterwards the next host is tried. */
  databaseConnect: 3_000,
  /** Deadline of a statement; afterwards the database counts as hanging, and the connection is closed. */
  databaseAnswer: 4_000,
  /** Minimum interval of checks of a replica, even with many notifications. */
  betweenChecks: 5,
  /** Interval of reports that a database with several servers must confirm like a change. */
  betweenConfirmed: 5_000,
  /**
   * Delay of an answer after which a replica treats the database as unreachable, and after which a leader without a
   * proof is unhealthy.
   */
  slowDatabase: 1_000,
  /** Maximum time to store pending changes before a hand-over is cancelled; longer if the database is slow. */
  handOver: 5_000,
  /** Time for which the lock of a closed connection may stay taken, and the interval between attempts to take it. */
  lock: 5_000,
  lockAttempt: 100,
  /**
   * Time for which an attempt to alter the tables waits for other users, and blocks later users; interval between
   * attempts; total duration of all attempts.
   */
  tablesLock: 250,
  betweenTables: 500,
  tables: 20_000,
  /** Time for a leader to store lines again that the database has lost. */
  madeGood: 5_000,
  /** Time for which a start tries to lead a site without a known leader before it continues as a replica. */
  startAsLeader: 1_500,
  /** Delay before a failed change of role is retried. */
  changeRoleAgain: 1_000,
  /** Deadline of a registration with the leader; afterwards the registration is retried. */
  register: 1_000,
  /** Deadline of a replica's connection to the leader, and interval between attempts when the leader refuses it. */
  connect: 2_000,
  connectAgain: 50,
  /**
   * Delay of an answer of the leader after which a replica checks that the leader is reachable, and interval of these
   * checks.
   */
  doubt: 1_000,
  /** Interval of checks of every port of the leader. */
  checkLeader: 2_000,
  /** Interval of checks of the consoles of other replicas. */
  checkPeers: 5_000,
  /** Additional time for an answer of the leader, beyond the deadlines of the site. */
  answerMargin: 3_000,
  /** Deadline for opening a proxied WebSocket. */
  upgrade: 15_000,
  /** Time for which a replica keeps an idle connection to the leader. */
  idle: 4_000,
  /**
   * Time for which an ended process of an embedded node may keep the node port occupied, and the interval between
   * attempts to use it.
   */
  nodePort: 10_000,
  nodePortAgain: 500,
  /** Time in which a leader that stepped down may still answer a request whose change is already stored. */
  lastAnswer: 1_000,
  /** Time in which a leader that hands over may still answer the call that requested it. */
  lastConsoleAnswer: 3_000,
  /** Maximum time of an answer of the leader's console: probing a camera takes some time. */
  consoleAnswer: 60_000,
  /**
   * Time for which a replica waits until it has read a session that was created at the leader, and the interval of
   * checks.
   */
  readSession: 3_000,
  readSessionCheck: 10,
  /**
   * Time of silence after which a stream of the leader's events counts as dead; delay before it is opened again;
   * maximum wait for a leader.
   */
  eventsSilent: 45_000,
  eventsAgain: 500,
  eventsLeader: 60_000,
  /** Interval of pings of a console's WebSocket. */
  ping: 20_000,
  /**
   * Time without a report after which a controller is shown as not running, and after which it no longer counts as a
   * possible leader.
   */
  gone: 5_000,
  absent: 10_000,
  /** Interval of reads of the database's settings. */
  betweenSettings: 60_000,
  /** Interval of reads of the list of controllers, and maximum time for which the console waits for the list. */
  list: 1_000,
  listAnswer: 1_500,
} as const

/**
 * Numbers of database statements, rounded up: between two reports of a replica, to store pending changes, and for a
 * takeover by a named controller.
 */
const statementsOf = { report: 12, flush: 12, takeOver: 24 } as const
/** Maximum time to store pending changes before a hand-over, in milliseconds: new changes wait meanwhile. */
const maxFlush = 10_000
/** Maximum time for which other controllers wait for a named successor, in milliseconds. */
const maxSuccessor = 20_000

/**
 * Returns the times of a hand-over, which are longer if the database is slow. The other controllers read from the
 * leader's row how long they wait, so these times may differ from those of the other controllers.
 * @param roundTrip time of one statement, in milliseconds
 * @returns `silent`: time without a report after which a replica is rejected as successor; `flush`: maximum time to
 * store pending changes; `successor`: time for which other controllers wait for the successor
 */
export function handOverTimes(
  { lease, renew, successor }: ElectionTimes,
  roundTrip: number,
): { silent: number; flush: number; successor: number } {
  return {
    silent: Math.max(lease, renew + statementsOf.report * roundTrip),
    flush: Math.max(clusterTimes.handOver, Math.min(maxFlush, statementsOf.flush * roundTrip)),
    successor: Math.max(successor, Math.min(maxSuccessor, statementsOf.takeOver * roundTrip)),
  }
}

/**
 * Returns the validity of a proof, in milliseconds: the time of three proofs, even if the database is slow.
 * @param roundTrip time of one proof, in milliseconds
 */
export function readsFor({ reads, maxReads, prove }: ElectionTimes, roundTrip: number): number {
  return Math.max(reads, Math.min(maxReads, Math.ceil(3 * (roundTrip + prove))))
}

/** Delays between attempts to reach the database. */
export const databaseBackoff: Backoff = { first: 100, max: 1_000 }

type ClusterTimes = Record<keyof typeof clusterTimes, number>

/** All times whose relations are checked. */
export interface Timings {
  election: ElectionTimes
  cluster: ClusterTimes
  /** Time for which a port of the leader keeps an idle connection, in milliseconds. */
  keepAlive: number
}

/**
 * Returns the default times of a controller.
 * @param keepAlive how long a port of the leader keeps an idle connection, in milliseconds
 */
export function shippedTimings(keepAlive: number): Timings {
  return { election: electionTimes, cluster: clusterTimes, keepAlive }
}

const relations: readonly { holds: (times: Timings) => boolean; sentence: string }[] = [
  {
    sentence:
      'Three proofs must fit into the time that one of them counts (3 × prove ≤ reads): one that comes late must not silence a healthy leader.',
    holds: ({ election: { prove, reads } }) => 3 * prove <= reads,
  },
  {
    sentence:
      'A leader must have time to prove its lease before it counts as frozen, also where proofs take long (reads ≤ maxReads, maxReads + margin < lease).',
    holds: ({ election: { reads, maxReads, margin, lease } }) => reads <= maxReads && maxReads + margin < lease,
  },
  {
    sentence:
      'A replica that could not register must wait until the longest proof is over (maxReads + margin ≤ comeBack): it may be of a version that waits for the shortest one only.',
    holds: ({ election: { maxReads, margin, comeBack } }) => maxReads + margin <= comeBack,
  },
  {
    sentence:
      'A replica that lost the database must wait for a whole lease (comeBack ≥ lease): until then the leader may answer from memory.',
    holds: ({ election: { comeBack, lease } }) => comeBack >= lease,
  },
  {
    sentence:
      'A leader that is cut off must answer from memory for less time than a replica gives it, with the margin for clocks (ask + margin ≤ comeBack).',
    holds: ({ election: { ask, margin, comeBack } }) => ask + margin <= comeBack,
  },
  {
    sentence:
      'What the others say must not count for longer than a proof (ask ≤ reads): whoever takes over waits no longer than for that.',
    holds: ({ election: { ask, reads } }) => ask <= reads,
  },
  {
    sentence:
      'A replica must check for lines at least as often as it reports (poll ≤ renew): its report says how far it is behind.',
    holds: ({ election: { poll, renew } }) => poll <= renew,
  },
  {
    sentence:
      'A named controller must have ten attempts to lead before others stop holding back (10 × attempt ≤ successor).',
    holds: ({ election: { attempt, successor } }) => 10 * attempt <= successor,
  },
  {
    sentence:
      'A replica must have two attempts to register before it may lead without (2 × register ≤ comeBack): a leader that does not know it would answer beside it.',
    holds: ({ election: { comeBack }, cluster: { register } }) => 2 * register <= comeBack,
  },
  {
    sentence:
      'A leader must be unhealthy before another one can follow it (slowDatabase < lease): a load balancer leaves it then.',
    holds: ({ election: { lease }, cluster: { slowDatabase } }) => slowDatabase < lease,
  },
  {
    sentence: 'A hand-over must outlast one answer of the database (handOver > databaseAnswer).',
    holds: ({ cluster: { handOver, databaseAnswer } }) => handOver > databaseAnswer,
  },
  {
    sentence:
      'A controller must not be shown as gone while its lease may count (gone > lease), and must be gone before it is absent (absent > gone).',
    holds: ({ election: { lease }, cluster: { gone, absent } }) => gone > lease && absent > gone,
  },
  {
    sentence:
      'A replica must end idle connections well before the leader does (2 × idle ≤ keepAlive): a request must not meet the end of its connection.',
    holds: ({ cluster: { idle }, keepAlive }) => 2 * idle <= keepAlive,
  },
  {
    sentence: 'A stream of events may miss one ping of the leader (eventsSilent > 2 × ping).',
    holds: ({ cluster: { eventsSilent, ping } }) => eventsSilent > 2 * ping,
  },
]

/**
 * Checks that the times of a cluster prevent two controllers from leading one site at once.
 * @throws RangeError with the sentence of each relation that does not hold
 */
export function checkTimings(times: Timings): void {
  const broken = relations.filter(({ holds }) => !holds(times)).map(({ sentence }) => sentence)
  if (broken.length > 0) throw new RangeError(`Times of the cluster contradict each other. ${broken.join(' ')}`)
}
