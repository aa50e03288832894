import { leavesMachine } from '../../shared/bind-address.ts'
import type { Log } from '../observe/log.ts'
import type { ControllerPlace, KnownController } from '../store/election/site-member.ts'

/** Whether a port of another controller is on another machine and would be called in plain HTTP. @param certificate that the controller announces, PEM; empty: none */
export function isPlainBetweenMachines(url: string, certificate: string): boolean {
  const parsed = URL.parse(url)
  return parsed?.protocol === 'http:' && certificate === '' && leavesMachine(parsed.hostname)
}

/** Limits plain HTTP between controllers to one machine: between two machines others could read it. */
export class PlainRule {
  /** The operator allows it. */
  readonly allowed: boolean
  readonly #log: Pick<Log, 'warn'>
  #refusedLeader = ''

  constructor(allowed: boolean, log: Pick<Log, 'warn'>) {
    this.allowed = allowed
    this.#log = log
  }

  /** Whether a controller is not called: it is on another machine and announces ports without a certificate, as older versions do. */
  refuses({ media, device, node, console, event, certificate }: ControllerPlace): boolean {
    return (
      !this.allowed && [media, device, node, console, event].some((url) => isPlainBetweenMachines(url, certificate))
    )
  }

  /** Another controller leads, or its place has changed: logs once that it is not called. */
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
