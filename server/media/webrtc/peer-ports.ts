import net from 'node:net'
import { EventLoopDelay } from '../base/event-loop.ts'
import type { MediaLog } from '../base/media-log.ts'
import { makeDtlsCertificate } from './dtls-certificate.ts'
import type { PeerSettings } from './peer.ts'
import { RestartPort } from './restart-port.ts'
import dgram from 'node:dgram'
import { once } from 'node:events'
import ndc, { type IceUdpMuxListener } from 'node-datachannel'
/** UDP ports and certificate shared by all WebRTC connections of the node. */
export class PeerPorts {
  readonly #host: string
  readonly #log: MediaLog
  readonly #certificate = makeDtlsCertificate()
  readonly #delay = new EventLoopDelay()
  #udp: UdpPort | undefined
  #restarts: RestartPort | undefined

  /** @param host bind address of the node's listener */
  constructor(host: string, log: MediaLog) {
    this.#host = host
    this.#log = log
  }

  /** UDP port of media; 0 before `open`. */
  get udpPort(): number {
    return this.#udp?.port ?? 0
  }

  /**
   * Opens the ports.
   * @param wanted preferred port, replaced by a free port if it is in use; 0: the node's own port number
   */
  async open(wanted: number, nodePort: number): Promise<void> {
    this.#udp = await UdpPort.open(this.#host, this.#bindAddress, wanted === 0 ? nodePort : wanted)
    this.#restarts = new RestartPort(this.#udp.port, this.#bindAddress, this.#log)
    if (wanted !== 0 && this.#udp.port !== wanted) {
      this.#log.warn('the UDP port is taken', `${wanted} is in use; ${this.#udp.port} serves instead`)
    }
    this.#delay.start()
  }

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

/** The UDP port of WebRTC, held open as long as the node runs, independent of connections. */
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
   * Opens the wanted port if it is free, otherwise any port.
   * @param host address of the node's listener
   * @param bindAddress undefined: every interface
   * @param wanted 0: any port
   */
  static async open(host: string, bindAddress: string | undefined, wanted: number): Promise<UdpPort> {
    return new UdpPort(await freePort(host, wanted), bindAddress)
  }

  close(): void {
    this.#listener.stop()
  }
}

/** Binds the port for a moment to check it, because the library does not report whether it got a port. */
async function freePort(host: string, wanted: number): Promise<number> {
  for (const port of wanted === 0 ? [0] : [wanted, 0]) {
    const socket = dgram.createSocket(net.isIPv6(host) ? 'udp6' : 'udp4')
    try {
      socket.bind(port, host)
      await once(socket, 'listening')
      return socket.address().port
    } catch {
      // The port is in use; the next one is tried.
    } finally {
      socket.close()
    }
  }
  throw new Error('no UDP port is free')
}
