import { X509Certificate } from 'node:crypto'
import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http'
import { connect as connectPlain, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as connectSecurely } from 'node:tls'
import { leavesMachine } from '../../shared/bind-address.ts'
import { controllerName } from '../edge/site-names.ts'
import type { Log } from '../observe/log.ts'
import type { ControllerPlace, KnownController } from '../store/election/site-member.ts'
import { clusterTimes } from '../store/election/timings.ts'
import { system } from '../store/system/system.ts'
import { startTimer } from '../store/system/time.ts'

/**
 * Maximum number of connections of one port to the leader: fewer than the leader's limit per address. Further requests
 * wait for a free connection.
 */
const maxConnections = 2_000

export interface LeaderPort {
  host: string
  port: number
  /** Certificate in DER that the port shows to controllers; undefined: plain HTTP. */
  certificate: Buffer | undefined
}

/**
 * Returns the address of a port of the leader.
 * @param certificate PEM of the certificate that the leader's listeners show to controllers, followed by its chain;
 * empty: plain HTTP
 * @param allowPlain permits plain HTTP to another machine
 * @returns undefined: the leader does not listen, or calling the port is not permitted
 */
export function leaderPort(url: string, certificate: string, allowPlain: boolean): LeaderPort | undefined {
  const parsed = URL.parse(url)
  if (parsed === null || (!allowPlain && isPlainBetweenMachines(url, certificate))) return undefined
  const secure = parsed.protocol === 'https:'
  if (secure && certificate === '') return undefined
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(parsed.port) || (secure ? 443 : 80),
    certificate: certificate === '' ? undefined : new X509Certificate(certificate).raw,
  }
}

/** Connects to a port of the leader. A TLS connection succeeds only if the port shows the leader's own certificate. */
export function connectToLeader(
  { host, port, certificate }: LeaderPort,
  done: (error: Error | null, socket: Socket) => void,
): void {
  const socket =
    certificate === undefined
      ? connectPlain({ host, port, noDelay: true })
      : // The certificate itself identifies the leader: its issuer and its names do not matter.
        connectSecurely({ host, port, rejectUnauthorized: false, servername: controllerName })
  let over = false
  const end = (error: Error | null): void => {
    if (over) return
    over = true
    timer.cancel()
    socket.off('error', end)
    // The receiver of the socket adds its own listener.
    socket.on('error', () => {})
    if (error !== null) socket.destroy()
    done(error, socket)
  }
  const timer = startTimer(clusterTimes.connect, () =>
    end(new Error(`No connection to ${host}:${port} within ${clusterTimes.connect} ms.`)),
  )
  socket.on('error', end)
  socket.once('close', () => end(new Error(`The connection to ${host}:${port} was closed.`)))
  if (certificate === undefined) socket.once('connect', () => end(null))
  else {
    socket.once('secureConnect', () => {
      const shown = 'getPeerX509Certificate' in socket ? socket.getPeerX509Certificate()?.raw : undefined
      const right = shown?.equals(certificate) === true
      end(right ? null : new Error(`${host}:${port} shows another certificate than the leader's.`))
    })
  }
}

/**
 * Keeps connections to one port of the leader. A request either gets an open connection, or fails before any of its
 * bytes are sent.
 */
export class LeaderAgent extends Agent {
  readonly #port: LeaderPort

  constructor(port: LeaderPort) {
    const options: AgentOptions = {
      keepAlive: true,
      maxSockets: maxConnections,
      maxFreeSockets: 256,
      scheduling: 'lifo',
    }
    super({ ...options, timeout: clusterTimes.idle })
    this.#port = port
  }

  override createConnection(
    _: ClientRequestArgs,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    connectToLeader(this.#port, (error, socket) => done?.(error, socket))
    return undefined
  }
}

/**
 * Whether a port of another controller is on another machine and would be called over plain HTTP.
 * @param certificate PEM of the controller's announced certificate; empty: none
 */
function isPlainBetweenMachines(url: string, certificate: string): boolean {
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

/**
 * Returns the reason why a port of another controller accepts no connection; empty: the port accepts connections. With
 * TLS, the certificate of the port must match, too.
 */
export function leaderUnreachableReason(port: LeaderPort): Promise<string> {
  const { reach } = system()
  if (reach !== undefined) return reach(port.host, port.port)
  return new Promise((resolve) => {
    connectToLeader(port, (error, socket) => {
      socket.destroy()
      resolve(error?.message ?? '')
    })
  })
}
