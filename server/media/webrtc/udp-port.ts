import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import ndc, { type IceUdpMuxListener } from 'node-datachannel'

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
