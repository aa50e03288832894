import type { Backoff } from '../../../shared/backoff.ts'

/** Times by which controllers elect their leader, in milliseconds. Tests shorten them. */
export interface ElectionTimes {
  /** A leader that has not renewed its lease for this long counts as frozen. */
  lease: number
  /** Between two reports. */
  renew: number
  /** How long a proof that it leads lets a leader answer from memory, at least; whoever takes over waits for it to be over. */
  reads: number
  /** At most so long, however slow the database is: see `readsFor`. */
  maxReads: number
  /** Between two proofs. */
  prove: number
  /** How much longer whoever takes over waits: clocks of two machines do not run alike. */
  margin: number
  /** Between two attempts of a replica to lead. */
  attempt: number
  /** Between two checks of a replica for new lines, when no notice announces one. */
  poll: number
  /** How long others hold back for the controller that a leader has named. */
  successor: number
  /** How long a replica that lost its own connection to the database, or could not register at the leader, lets the leader come back first. */
  comeBack: number
  /** How long the database may take to prove a lease, before the leader asks the other controllers. */
  proof: number
  /** How long asked controllers have to answer. A leader that nobody can have followed answers from memory for as long. */
  ask: number
  /** Before a leader asks again, while a replica reaches the database and is about to take over. */
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

/** All other times of several controllers, in milliseconds. */
export const clusterTimes = {
  /** A host of the database that has not let us in by then is left for the next one. */
  databaseConnect: 3_000,
  /** A database that has not answered a statement by then hangs, and its connection is given up. */
  databaseAnswer: 4_000,
  /** Shortest time between two checks of a replica, however many notices come. */
  betweenChecks: 5,
  /** Between two reports that a database of several servers has to confirm as it confirms a change. */
  betweenConfirmed: 5_000,
  /** A database that owes a replica an answer for longer counts as away; a leader that it has not proved for longer is unhealthy. */
  slowDatabase: 1_000,
  /** How long a change under way may take to be stored, before a hand-over is given up; longer where the database is slow. */
  handOver: 5_000,
  /** How long the lock of a connection that was cut may stay taken, and the time between two attempts to take it. */
  lock: 5_000,
  lockAttempt: 100,
  /** How long an attempt to alter the tables waits for others, and holds up those behind it; the time between two attempts, and how long it is tried. */
  tablesLock: 250,
  betweenTables: 500,
  tables: 20_000,
  /** How long a leader may take to bring a database that lost lines up to the memory of its replicas. */
  madeGood: 5_000,
  /** How long a start waits to lead a site that has no known leader, before it begins as a replica. */
  startAsLeader: 1_500,
  /** Before a change of role that failed is tried again. */
  changeRoleAgain: 1_000,
  /** A leader that does not answer a registration by then is asked again later. */
  register: 1_000,
  /** How long a replica waits for a connection to the leader, and between two attempts at one that refuses. */
  connect: 2_000,
  connectAgain: 50,
  /** How long a leader may owe an answer before a replica checks that it can be reached, and between two checks. */
  doubt: 1_000,
  /** Between two checks of every port of the leader. */
  checkLeader: 2_000,
  /** Between two checks of the consoles of other replicas. */
  checkPeers: 5_000,
  /** Beyond the deadlines of the site: how long the answer of the leader to a request may take on its way. */
  answerMargin: 3_000,
  /** How long a WebSocket that is passed on may take to open. */
  upgrade: 15_000,
  /** How long a replica keeps an idle connection to the leader. */
  idle: 4_000,
  /** How long a process of an embedded node that just ended may hold the node port, and the time between two attempts to take it. */
  nodePort: 10_000,
  nodePortAgain: 500,
  /** How long a leader that stepped down may answer a request that it has stored already. */
  lastAnswer: 1_000,
  /** How long a leader that hands over may answer the call that asked for it. */
  lastConsoleAnswer: 3_000,
  /** Longest answer of the leader's console: a probe of a camera takes some time. */
  consoleAnswer: 60_000,
  /** How long a replica waits until it has read a session that began at the leader, and how often it checks. */
  readSession: 3_000,
  readSessionCheck: 10,
  /** A stream of the leader's events that is silent for longer is dead; before it is opened again; longest wait for a leader. */
  eventsSilent: 45_000,
  eventsAgain: 500,
  eventsLeader: 60_000,
  /** Between two pings of a console's WebSocket. */
  ping: 20_000,
  /** A controller that did not report for this long is shown as gone; for longer, it does not count as a possible leader. */
  gone: 5_000,
  absent: 10_000,
  /** Between two reads of the database's settings. */
  betweenSettings: 60_000,
  /** Between two reads of the list of controllers, and how long the console waits for one. */
  list: 1_000,
  listAnswer: 1_500,
} as const

/** Statements between two reports of a replica, until changes under way are stored, and until a named controller leads; some more than there are. */
const statementsOf = { report: 12, flush: 12, takeOver: 24 } as const
/** Longest time for changes under way to be stored before a hand-over, in milliseconds: meanwhile new ones wait. */
const maxFlush = 10_000
/** Longest time for which others hold back for a named controller, in milliseconds. */
const maxSuccessor = 20_000

/**
 * Times of a hand-over where the database is slow. The others read from the leader's row how long they hold back, so no relation with their own times has to hold.
 * @param roundTrip time of one statement, in milliseconds
 * @returns `silent`: a replica without a report for longer cannot take over; `flush`: how long changes under way may take to be stored; `successor`: how long the others hold back for it
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
 * How long a proof counts where the database is slow: three proofs fit into it.
 * @param roundTrip time of one proof, in milliseconds
 */
export function readsFor({ reads, maxReads, prove }: ElectionTimes, roundTrip: number): number {
  return Math.max(reads, Math.min(maxReads, Math.ceil(3 * (roundTrip + prove))))
}

/** Waits between attempts to reach a database that is away. */
export const databaseBackoff: Backoff = { first: 100, max: 1_000 }

type ClusterTimes = Record<keyof typeof clusterTimes, number>

/** All times whose relations are checked. */
export interface Timings {
  election: ElectionTimes
  cluster: ClusterTimes
  /** After how long a port of the leader ends an idle connection. */
  keepAlive: number
}

/** Times of a controller as it ships. @param keepAlive after how long a port of the leader ends an idle connection, in milliseconds */
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
 * Checks the relations that the times of a cluster must keep, so that two controllers never answer for one site.
 * @throws RangeError with the sentence of each relation that is broken
 */
export function checkTimings(times: Timings): void {
  const broken = relations.filter(({ holds }) => !holds(times)).map(({ sentence }) => sentence)
  if (broken.length > 0) throw new RangeError(`Times of the cluster contradict each other. ${broken.join(' ')}`)
}
