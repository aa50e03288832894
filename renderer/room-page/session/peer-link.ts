import type { RelayPayload } from '../../../shared/media/signal.ts'

/** Tracks sent to everybody; null: nothing. */
export interface SentTracks {
  audio: MediaStreamTrack | null
  video: MediaStreamTrack | null
  screen: MediaStreamTrack | null
}

/** Received tracks; null: none. */
export type ReceivedTracks = SentTracks

export interface PeerLinkListener {
  send(payload: RelayPayload): void
  tracks(tracks: ReceivedTracks): void
  state(state: RTCPeerConnectionState): void
}

/** Maximum number of restarts of a failed link. */
const maxRestarts = 5

/**
 * The connection to one user of a peer-to-peer room, by perfect negotiation (W3C WebRTC, section 10.7). Its first two
 * media sections are voice and camera; later ones are screens, each sent one way.
 */
export class PeerLink {
  readonly connection: RTCPeerConnection
  readonly #polite: boolean
  readonly #listener: PeerLinkListener
  #sent: SentTracks = { audio: null, video: null, screen: null }
  #screen: RTCRtpTransceiver | undefined
  #makingOffer = false
  #ignoring = false
  #restarts = 0
  /** Id of the other side's connection: an offer with another id replaces it. */
  #remoteSession = ''
  #early: RTCIceCandidateInit[] = []
  #received = Promise.resolve()

  /**
   * @param first this side sends the first offer, with both media sections
   * @param polite this side withdraws its offer if both sides send one
   */
  constructor(options: {
    iceServers: RTCIceServer[]
    first: boolean
    polite: boolean
    sent: SentTracks
    listener: PeerLinkListener
  }) {
    this.#polite = options.polite
    this.#listener = options.listener
    this.connection = new RTCPeerConnection({ iceServers: options.iceServers, bundlePolicy: 'max-bundle' })
    this.connection.addEventListener('negotiationneeded', () => void this.#offer())
    this.connection.addEventListener('icecandidate', ({ candidate }) => {
      if (candidate === null || candidate.candidate === '') return
      this.#listener.send({
        kind: 'candidate',
        candidate: candidate.candidate,
        mid: candidate.sdpMid ?? '0',
      })
    })
    this.connection.addEventListener('connectionstatechange', () => this.#stateChanged())
    if (options.first) {
      this.connection.addTransceiver('audio', { direction: 'sendrecv' })
      this.connection.addTransceiver('video', { direction: 'sendrecv' })
    }
    void this.send(options.sent)
  }

  /** Returns whether an offer belongs to a new connection of the other user. */
  isNew(offer: string): boolean {
    return this.#remoteSession !== '' && this.#remoteSession !== sessionOf(offer)
  }

  /** Sends these tracks from now on. */
  async send(sent: SentTracks): Promise<void> {
    this.#sent = sent
    const [audio, video] = this.connection.getTransceivers()
    await audio?.sender.replaceTrack(sent.audio)
    await video?.sender.replaceTrack(sent.video)
    if (video === undefined) return
    if (sent.screen === null) {
      if (this.#screen === undefined || this.#screen.direction === 'inactive') return
      this.#screen.direction = 'inactive'
      await this.#screen.sender.replaceTrack(null)
    } else if (this.#screen === undefined) {
      this.#screen = this.connection.addTransceiver(sent.screen, { direction: 'sendonly' })
    } else {
      this.#screen.direction = 'sendonly'
      await this.#screen.sender.replaceTrack(sent.screen)
    }
  }

  /**
   * Limits the picture for this user: all users share the total bitrate.
   * @param shrink 1 for full size, 2 for half of each side
   */
  async limit(maxBitrate: number, shrink: number): Promise<void> {
    const sender = this.connection.getTransceivers()[1]?.sender
    const parameters = sender?.getParameters()
    const [encoding] = parameters?.encodings ?? []
    if (sender === undefined || parameters === undefined || encoding === undefined) return
    if (encoding.maxBitrate === maxBitrate && (encoding.scaleResolutionDownBy ?? 1) === shrink) return
    encoding.maxBitrate = maxBitrate
    encoding.scaleResolutionDownBy = shrink
    // The connection may be closed or negotiating; the next change sets the limits again.
    await sender.setParameters(parameters).catch(() => {})
  }

  /**
   * Handles a message that the user sent through the node. An unexpected one is ignored: the next offer restores the
   * connection.
   */
  receive(payload: Exclude<RelayPayload, { kind: 'bye' }>): void {
    // In order, so that an offer right after an answer is applied in the new state.
    this.#received = this.#received.then(async () => await this.#take(payload))
  }

  async #take(payload: Exclude<RelayPayload, { kind: 'bye' }>): Promise<void> {
    if (this.connection.signalingState === 'closed') return
    try {
      if (payload.kind === 'candidate') await this.#addCandidate(payload)
      else await this.#describe(payload)
    } catch (error) {
      if (!this.#ignoring) console.warn('a message of a peer could not be used', error)
    }
  }

  close(): void {
    this.connection.close()
  }

  async #offer(): Promise<void> {
    try {
      this.#makingOffer = true
      await this.connection.setLocalDescription()
      this.#reportDescription()
    } catch {
      // The connection was closed meanwhile: nothing to do.
    } finally {
      this.#makingOffer = false
    }
  }

  async #describe(description: { kind: 'offer' | 'answer'; sdp: string }): Promise<void> {
    const isOffer = description.kind === 'offer'
    const collision = isOffer && (this.#makingOffer || this.connection.signalingState !== 'stable')
    this.#ignoring = !this.#polite && collision
    if (this.#ignoring) return
    await this.connection.setRemoteDescription({ type: description.kind, sdp: description.sdp })
    this.#remoteSession = sessionOf(description.sdp)
    for (const candidate of this.#early.splice(0)) await this.connection.addIceCandidate(candidate)
    if (isOffer) {
      for (const transceiver of this.connection.getTransceivers().slice(0, 2)) transceiver.direction = 'sendrecv'
      await this.send(this.#sent)
      await this.connection.setLocalDescription()
      this.#reportDescription()
    }
    this.#reportTracks()
  }

  async #addCandidate({ candidate, mid }: { candidate: string; mid: string }): Promise<void> {
    const init = { candidate, sdpMid: mid }
    if (this.connection.remoteDescription === null) this.#early.push(init)
    else await this.connection.addIceCandidate(init)
  }

  #reportDescription(): void {
    const description = this.connection.localDescription
    if (description === null || (description.type !== 'offer' && description.type !== 'answer')) return
    this.#listener.send({ kind: description.type, sdp: description.sdp })
  }

  #reportTracks(): void {
    const [audio, video, ...screens] = this.connection.getTransceivers()
    const screen = screens.find(({ currentDirection }) => currentDirection === 'recvonly')
    this.#listener.tracks({
      audio: audio?.receiver.track ?? null,
      video: video?.receiver.track ?? null,
      screen: screen?.receiver.track ?? null,
    })
  }

  #stateChanged(): void {
    const state = this.connection.connectionState
    if (state === 'connected') this.#restarts = 0
    if (state === 'failed' && !this.#polite && this.#restarts < maxRestarts) {
      this.#restarts += 1
      this.connection.restartIce()
    }
    this.#listener.state(state)
  }
}

/** Reads the id in the `o=` line, which stays the same during a connection's life (RFC 9429, section 5.2.1). */
function sessionOf(sdp: string): string {
  return /^o=\S+ (\d+) /m.exec(sdp)?.[1] ?? ''
}
