import net from 'node:net'
import { EventLoopDelay } from '../base/event-loop-delay.ts'
import type { Log } from '../base/media-log.ts'
import { makeDtlsCertificate } from './dtls-certificate.ts'
import type { PeerSettings } from './peer.ts'
import { RestartPort } from './restart-port.ts'
import { UdpPort } from './udp-port.ts'

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
