import { Counter, Gauge, Registry } from 'prom-client'
import { addControllerGauges, type ControllerMetricSources } from '../observe/controller-metrics.ts'

/** Read when somebody scrapes. */
export interface ReplicaMetricSources {
  controllers: ControllerMetricSources
  /** Requests that were passed on, and that could not be. */
  passedOn(): { answered: number; refused: number }
  /** Requests that wait for a leader. */
  waiting(): number
  /** Whether every port of the leader can be reached from here. */
  leaderReachable(): boolean
  connections(): Promise<Readonly<Record<string, number>>>
  /** Restarts of the program after an unexpected error. */
  restarts: number
}

/** Makes the numbers of `/metrics` of a replica. */
export function replicaMetrics(sources: ReplicaMetricSources): () => Promise<string> {
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
