import { leavesMachine } from '../../shared/bind-address.ts'
import type { Log } from '../observe/log.ts'
import type { ControllerPlace, KnownController } from '../store/election/site-member.ts'

/**
 * Whether a port of another controller is on another machine and would be called over plain HTTP.
 * @param certificate PEM of the controller's announced certificate; empty: none
 */
export function isPlainBetweenMachines(url: string, certificate: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'http:' && certificate === '' && leavesMachine(parsed.hostname)
}

/** Restricts plain HTTP between controllers to one machine, because others could read traffic between machines. */
export class PlainRule {
  /** Whether the operator permits plain HTTP between machines. */
  readonly allowed: boolean
  readonly #log: Pick<Log, 'warn'>
  #refusedLeader = ''

  constructor(allowed: boolean, log: Pick<Log, 'warn'>) {
    this.allowed = allowed
    this.#log = log
  }

  /**
   * Whether a controller must not be called, because it is on another machine and announces ports without a
   * certificate, like older versions.
   */
  refuses({ media, device, node, console, event, certificate }: ControllerPlace): boolean {
    return (
      !this.allowed && [media, device, node, console, event].some((url) => isPlainBetweenMachines(url, certificate))
    )
  }

  /** Records a new leader, or a new address of the leader. Logs once if the leader must not be called. */
  leads({ id, name, place }: Pick<KnownController, 'id' | 'name' | 'place'>): void {
    const refused = this.refuses(place) ? id : ''
    if (refused !== '' && refused !== this.#refusedLeader)
      this.#log.warn(
        { leader: name, console: place.console },
        'the leader is on another machine and announces no certificate, so nothing is passed on to it: update it, or start this controller with --allow-plain-controllers on',
      )
    this.#refusedLeader = refused
  }
}
