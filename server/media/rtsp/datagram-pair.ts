import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'
import { plainAddress } from '../../../shared/client-address.ts'
import { RtspError } from './rtsp-error.ts'

/** Kernel buffer for incoming packets in bytes: a key frame of a 4K camera arrives in one burst. */
const receiveBuffer = 2 * 1024 * 1024

/** Receives the datagrams of a pair. Errors of handlers go to `failed`. */
export interface DatagramListener {
  rtp: (packet: Buffer) => void
  rtcp: (packet: Buffer) => void
  failed: (error: unknown) => void
}

/** Two UDP sockets on adjacent ports: RTP on the even port, RTCP on the odd port (RFC 3550, section 11). */
export class DatagramPair {
  readonly #rtp: dgram.Socket
  readonly #rtcp: dgram.Socket
  readonly port: number
  /** Address of the RTSP connection. Packets are sent only there, regardless of what the peer's messages say. */
  readonly #peerAddress: string
  /** Peer address without its zone, and the additional address from which the peer may send. */
  readonly #known: string
  #source: string
  #peerPorts: readonly [number, number] | undefined
  #closed = false
  /** Bytes received from the peer. */
  receivedBytes = 0

  private constructor(rtp: dgram.Socket, rtcp: dgram.Socket, port: number, peerAddress: string) {
    this.#rtp = rtp
    this.#rtcp = rtcp
    this.port = port
    this.#peerAddress = peerAddress
    this.#known = plainAddress(peerAddress)
    this.#source = this.#known
  }

  /**
   * Opens a pair of sockets.
   * @param peerAddress IP address of the camera, or of the client of a test camera
   * @throws RtspError if no pair of ports is free
   */
  static async open(peerAddress: string): Promise<DatagramPair> {
    const type = net.isIPv6(peerAddress) ? 'udp6' : 'udp4'
    for (let attempt = 0; attempt < 50; attempt++) {
      const port = 20_000 + 2 * Math.floor(Math.random() * 6_000)
      const sockets = [dgram.createSocket(type), dgram.createSocket(type)] as const
      try {
        for (const [index, socket] of sockets.entries()) {
          socket.bind(port + index)
          await once(socket, 'listening')
          socket.on('error', () => {})
        }
        enlarge(sockets[0])
        return new DatagramPair(...sockets, port, peerAddress)
      } catch {
        // One of the two ports is in use: the next pair is tried.
        for (const socket of sockets) closeQuietly(socket)
      }
    }
    throw new RtspError('protocol', 'no free pair of UDP ports')
  }

  /** Delivers packets of the peer; packets of other senders are dropped. */
  listen({ rtp, rtcp, failed }: DatagramListener): void {
    const take =
      (told: (packet: Buffer) => void) =>
      (packet: Buffer, { address }: dgram.RemoteInfo) => {
        if (this.#closed || !this.#isPeer(address)) return
        this.receivedBytes += packet.length
        try {
          told(packet)
        } catch (error) {
          failed(error)
        }
      }
    this.#rtp.on('message', take(rtp))
    this.#rtcp.on('message', take(rtcp))
  }

  /**
   * Sends a packet to open the return path through a firewall, and also accepts packets from `source`. No packet is
   * sent to `source`, otherwise a camera could make the node send to any machine.
   */
  meet(source: string | undefined, ports: readonly [number, number] | undefined): void {
    this.#source = source === undefined ? this.#source : plainAddress(source)
    this.#peerPorts = ports
    // An RTP packet without payload, which receivers ignore.
    if (ports !== undefined) this.#send(this.#rtp, Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), ports[0])
  }

  /** Sets the ports of a client of a test camera, to which media and reports are sent. */
  aim(ports: readonly [number, number]): void {
    this.#peerPorts = ports
  }

  sendMedia(packet: Buffer): void {
    if (this.#peerPorts !== undefined) this.#send(this.#rtp, packet, this.#peerPorts[0])
  }

  sendReport(packet: Buffer): void {
    if (this.#peerPorts !== undefined) this.#send(this.#rtcp, packet, this.#peerPorts[1])
  }

  /** Closes both sockets. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    closeQuietly(this.#rtp)
    closeQuietly(this.#rtcp)
  }

  #send(socket: dgram.Socket, packet: Buffer, port: number): void {
    if (!this.#closed) socket.send(packet, port, this.#peerAddress, () => {})
  }

  #isPeer(address: string): boolean {
    if (address === this.#known || address === this.#source) return true
    const sender = plainAddress(address)
    return sender === this.#known || sender === this.#source
  }
}

function enlarge(socket: dgram.Socket): void {
  try {
    socket.setRecvBufferSize(receiveBuffer)
  } catch {
    // The system's limit is lower; the default size is kept.
  }
}

function closeQuietly(socket: dgram.Socket): void {
  try {
    socket.close()
  } catch {
    // Already closed, or never bound.
  }
}
