import { mustNotFail } from '../../shared/unawaited.ts'
import type { ConsoleKey } from '../console/console-key.ts'
import type { SiteControllers } from '../console/site-controllers.ts'
import type { ControllerOptions } from '../controller/options.ts'
import type { TlsMaterial } from '../edge/tls.ts'
import type { SharedEventLog } from '../event-log/event-log.ts'
import { LeaderWatch } from './leader-watch.ts'
import { replicaConsole } from './replica-console.ts'
import { Replica, type ReplicaOptions } from './replica.ts'

export interface ReplicaRoleDependencies
  extends Pick<ReplicaOptions, 'site' | 'resolver' | 'proof' | 'kept' | 'ports' | 'placed'> {
  controllers: SiteControllers
  consoleKey: ConsoleKey | undefined
  events: SharedEventLog
  tls: TlsMaterial | undefined
  /** Milliseconds since the epoch. */
  startedAt: number
}

/** The replica role of a controller: its ports, its console, and its checks of the leader. */
export interface ReplicaRole {
  replica: Replica
  /** Stops the checks of the leader and of the console. */
  endWatches(): void
}

/** Composes the ports of a replica; nothing listens yet. */
export function replicaRole(options: ControllerOptions, dependencies: ReplicaRoleDependencies): ReplicaRole {
  const { overrides = {}, compatibility, dataFolder, logger, consolePage: page, version } = options
  const { consoleKey: key, controllers, events, startedAt, ...ports } = dependencies
  const { site, resolver, proof, kept } = ports
  const watch = new LeaderWatch(resolver, () => controllers.leader()?.name ?? '', logger)
  const console =
    page === undefined || key === undefined
      ? undefined
      : replicaConsole({
          ...{ page, key, site, resolver, proof, kept, controllers, events, version, startedAt, logger },
          restarts: options.restarts?.total ?? 0,
          tls: () => replica.tls,
          unreachable: () => watch.lasting,
          counts: () => replica.passOn.counts,
          connections: () => replica.listeners.connections(),
        })
  const replica: Replica = new Replica({
    ...ports,
    overrides,
    compatibility,
    dataFolder,
    console,
    log: logger,
  })
  mustNotFail(watch.run())
  const endWatches = (): void => {
    watch.stop()
    console?.end()
  }
  return { replica, endWatches }
}
