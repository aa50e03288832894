import net from 'node:net'
import { EventLoopDelay } from '../base/event-loop-delay.ts'
import type { Log } from '../base/media-log.ts'
import { makeDtlsCertificate } from './dtls-certificate.ts'
import type { PeerSettings } from './peer.ts'
import { RestartPort } from './restart-port.ts'
import dgram from 'node:dgram'
import { once } from 'node:events'
import ndc, { type IceUdpMuxListener } from 'node-datachannel'
/** UDP ports and certificate that all WebRTC connections of the node share. */
export class PeerPorts {
  readonly #host: string
  readonly #log: Log
  readonly #certificate = makeDtlsCertificate()
  readonly #delay = new EventLoopDelay()
  #udp: UdpPort | undefined
  #restarts: RestartPort | undefined

  /** @param host of the node's listener */
  constructor(host: string, log: Log) {
    this.#host = host
    this.#log = log
  }

  /** Port of media; 0 before `open`. */
  get udpPort(): number {
    return this.#udp?.port ?? 0
  }

  /**
   * Opens the ports.
   * @param wanted port, of which another takes the place where it is in use; 0: the number of the node port
   */
  async open(wanted: number, nodePort: number): Promise<void> {
    this.#udp = await UdpPort.open(this.#host, this.#bindAddress, wanted === 0 ? nodePort : wanted)
    this.#restarts = new RestartPort(this.#udp.port, this.#bindAddress, this.#log)
    if (wanted !== 0 && this.#udp.port !== wanted) {
      this.#log.warn('the UDP port is taken', `${wanted} is in use; ${this.#udp.port} serves instead`)
    }
    this.#delay.start()
  }

  /** Makes the settings of a connection. */
  settings(advertised: PeerSettings['advertised']): PeerSettings {
    return {
      udpPort: this.udpPort,
      bindAddress: this.#bindAddress,
      advertised,
      restarts: this.#restarts,
      delay: this.#delay,
      certificate: this.#certificate,
      log: this.#log,
    }
  }

  /** Closes the ports. */
  close(): void {
    this.#delay.stop()
    this.#udp?.close()
    this.#restarts?.close()
  }

  /** Address that sockets bind to; undefined for every interface. */
  get #bindAddress(): string | undefined {
    if (this.#host === 'localhost') return '127.0.0.1'
    return this.#host === '0.0.0.0' || this.#host === '::' || net.isIP(this.#host) === 0 ? undefined : this.#host
  }
}

/** The one UDP port of WebRTC, held for as long as the node runs: connections come and go on it. */
export class UdpPort {
  readonly port: number
  readonly #listener: IceUdpMuxListener

  private constructor(port: number, bindAddress: string | undefined) {
    this.port = port
    this.#listener =
      bindAddress === undefined ? new ndc.IceUdpMuxListener(port) : new ndc.IceUdpMuxListener(port, bindAddress)
    this.#listener.onUnhandledStunRequest(() => {})
  }

  /**
   * @param host the listener's own
   * @param bindAddress undefined: every interface
   * @param wanted where it is free, and else any; 0: any
   */
  static async open(host: string, bindAddress: string | undefined, wanted: number): Promise<UdpPort> {
    return new UdpPort(await freePort(host, wanted), bindAddress)
  }

  close(): void {
    this.#listener.stop()
  }
}

/** Asked by binding it for a moment: the library does not say whether it got a port. */
async function freePort(host: string, wanted: number): Promise<number> {
  for (const port of wanted === 0 ? [0] : [wanted, 0]) {
    const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4')
    try {
      socket.bind(port, host)
      await once(socket, 'listening')
      return socket.address().port
    } catch {
      // Taken: any other.
    } finally {
      socket.close()
    }
  }
  throw new Error('no UDP port is free')
}
