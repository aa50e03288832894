import { setTimeout as sleep } from 'node:timers/promises'
import ndc, { type PeerConnection, type Track } from 'node-datachannel'
import { answeredOffer, whenGathered } from './answered-offer.ts'
import { Arrivals } from './arrivals.ts'

/** A WHEP viewer on libdatachannel: a real peer that costs less than a browser. */
export class WhepPeer {
  readonly #connection: PeerConnection
  readonly #tracks: Track[] = []
  readonly #first = Promise.withResolvers<void>()
  #session = ''
  /** Packets received until now. */
  packets = 0
  readonly video = new Arrivals()
  readonly audio = new Arrivals()

  /**
   * @param heard see `open`
   * @param offers whether this side sends the offer
   */
  private constructor(heard?: (message: Buffer) => void, offers = true) {
    const connection = new ndc.PeerConnection('viewer', {
      iceServers: [],
      // Other viewers may not be reachable at the loopback address.
      ...(offers ? { bindAddress: '127.0.0.1' } : {}),
      disableAutoNegotiation: true,
    })
    this.#connection = connection
    if (!offers) {
      connection.onTrack((track) => this.#take(track, heard))
      return
    }
    const video = new ndc.Video('0', 'RecvOnly')
    video.addH264Codec(102, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
    const audio = new ndc.Audio('1', 'RecvOnly')
    audio.addOpusCodec(111)
    audio.addAudioCodec(0, 'PCMU')
    for (const media of [video, audio]) this.#take(connection.addTrack(media), heard)
  }

  #take(track: Track, heard?: (message: Buffer) => void): void {
    const isFirst = this.#tracks.push(track) === 1
    // Answers sender reports, as a browser does.
    if (heard === undefined) track.setMediaHandler(new ndc.RtcpReceivingSession())
    track.onClosed(() => {})
    track.onMessage((message) => {
      this.packets += 1
      ;(isFirst ? this.video : this.audio).note(message)
      this.#first.resolve()
      heard?.(message)
    })
  }

  /**
   * Connects, and waits for the first packet or the connection.
   * @param heard receives every packet, and sends reports and requests with `send`; default: the library does it, as a browser
   * @param until `connection` for a stream that is muted and hidden, which sends nothing
   * @throws MediaRefusedError; Error after 10 s
   */
  static async open(
    url: string,
    token: string,
    heard?: (message: Buffer) => void,
    until: 'packet' | 'connection' = 'packet',
  ): Promise<WhepPeer> {
    const peer = new WhepPeer(heard)
    try {
      await peer.#open(url, token, until)
    } catch (error) {
      peer.#end()
      throw error
    }
    return peer
  }

  /** Like `open`, where the server sends the offer (draft-murillo-whep-01, section 4.2). @throws Error without a packet within 10 s */
  static async openOffered(url: string, token = '', heard?: (message: Buffer) => void): Promise<WhepPeer> {
    const peer = new WhepPeer(heard, false)
    try {
      await peer.#answer(url, token)
    } catch (error) {
      peer.#end()
      throw error
    }
    return peer
  }

  /** Like `open`, with an offer that the server answers with a counter-offer (draft-ietf-wish-whep, section 4.3.2). */
  static async openCountered(url: string, token: string): Promise<WhepPeer> {
    const offering = new WhepPeer()
    const offer = await offering.#offer()
    offering.#end()
    const peer = new WhepPeer(undefined, false)
    try {
      await peer.#answer(url, token, offer)
    } catch (error) {
      peer.#end()
      throw error
    }
    return peer
  }

  /** Answers an offer that came another way, e.g. through a console. @param answer brings the answer to the server @throws Error without a packet within 10 s */
  static async answering(offer: string, answer: (sdp: string) => Promise<unknown>): Promise<WhepPeer> {
    const peer = new WhepPeer(undefined, false)
    try {
      await peer.#exchange(offer, answer)
    } catch (error) {
      peer.#end()
      throw error
    }
    return peer
  }

  /** Ends this side alone. */
  drop(): void {
    this.#end()
  }

  /** Sends RTCP; nothing once the session has ended. */
  send(packet: Buffer): void {
    try {
      this.#tracks[0]?.sendMessageBinary(packet)
    } catch {
      // The node, or a timer of the test, ended the session meanwhile: the library throws for its tracks then.
    }
  }

  /** Ends the session in order. Resolves to whether the node still had it. */
  async close(): Promise<boolean> {
    // DELETE always succeeds: PATCH shows whether the session still exists.
    const headers = { 'content-type': 'application/trickle-ice-sdpfrag' }
    const { status } = await fetch(this.#session, { method: 'PATCH', headers, body: '' })
    await fetch(this.#session, { method: 'DELETE' })
    this.#end()
    return status !== 404
  }

  async #open(url: string, token: string, until: 'packet' | 'connection'): Promise<void> {
    if (until === 'connection') this.#tracks[0]?.onOpen(() => this.#first.resolve())
    // Measures the round trip as browsers do, if its reference times are answered.
    const offer = (sdp: string): string => sdp.replace('a=mid:0\r\n', 'a=mid:0\r\na=rtcp-xr:rcvr-rtt=all\r\n')
    this.#session = await answeredOffer(this.#connection, url, token, { offer })
    await this.#firstPacket()
  }

  async #offer(): Promise<string> {
    const gathered = whenGathered(this.#connection)
    this.#connection.setLocalDescription('offer')
    await gathered
    return this.#connection.localDescription()?.sdp ?? ''
  }

  /** @param countered offer that the server answers with a counter-offer; empty: none */
  async #answer(url: string, token: string, countered = ''): Promise<void> {
    const request = new Headers(countered === '' ? {} : { 'content-type': 'application/sdp' })
    if (token !== '') request.set('authorization', `Bearer ${token}`)
    const response = await fetch(url, { method: 'POST', headers: request, body: countered })
    const offer = await response.text()
    if (response.status !== (countered === '' ? 201 : 406)) throw new Error(`it answered ${response.status}: ${offer}`)
    this.#session = new URL(response.headers.get('location') ?? '', url).href
    await this.#exchange(offer, (body) => {
      const headers = { 'content-type': 'application/sdp' }
      return fetch(this.#session, { method: 'PATCH', headers, body })
    })
  }

  async #exchange(offer: string, answer: (sdp: string) => Promise<unknown>): Promise<void> {
    const gathered = whenGathered(this.#connection)
    const candidates = [...offer.matchAll(/^a=(candidate:.*)\r$/gm)]
    this.#connection.setRemoteDescription(offer.replace(/^a=candidate:.*\r\n/gm, ''), 'offer')
    this.#connection.setLocalDescription('answer')
    await gathered
    await answer((this.#connection.localDescription()?.sdp ?? '').replace('a=ice-options:trickle\r\n', ''))
    // Delays the first DTLS message until the server is ready: the library repeats it after a second, a browser after 50 ms.
    await sleep(40)
    for (const [, candidate = ''] of candidates) this.#connection.addRemoteCandidate(candidate, '0')
    await this.#firstPacket()
  }

  async #firstPacket(): Promise<void> {
    const timer = setTimeout(() => this.#first.reject(new Error('no packet came')), 10_000)
    await this.#first.promise
    clearTimeout(timer)
  }

  #end(): void {
    for (const track of this.#tracks) track.close()
    this.#connection.close()
  }
}
