/** Totals and states of what this browser sends, at one moment. */
export interface SendingReading {
  /** Packets of the microphone's sound that were sent; undefined: no sound is sent. */
  soundPackets: number | undefined
  /** Energy of that sound; undefined: this browser does not measure it (Firefox). */
  soundEnergy: number | undefined
  /** Pictures that the camera delivered; undefined: no picture is sent. */
  cameraFrames: number | undefined
  /** Height of the camera's picture, and of the largest layer that is sent, in pixels. */
  cameraHeight: number
  /** Pictures sent, by height of the layer. */
  sentFrames: ReadonlyMap<number, number>
  /** The link limits the encoder. */
  isLimited: boolean
  /** Share of sound packets lost on the way, 0 to 1. */
  loss: number
  /** Round-trip time in milliseconds; undefined: unknown. */
  roundTripMs: number | undefined
}

type Entry = Record<string, unknown>

/** Reads what a connection sends (getStats). */
export async function readSending(connection: RTCPeerConnection): Promise<SendingReading> {
  const sentFrames = new Map<number, number>()
  const reading: SendingReading = {
    soundPackets: undefined,
    soundEnergy: undefined,
    cameraFrames: undefined,
    cameraHeight: 0,
    sentFrames,
    isLimited: false,
    loss: 0,
    roundTripMs: undefined,
  }
  const report = await connection.getStats()
  report.forEach((entry: Entry) => {
    const isSound = entry.kind === 'audio'
    if (entry.type === 'media-source' && isSound) reading.soundEnergy = known(entry.totalAudioEnergy)
    else if (entry.type === 'media-source') {
      reading.cameraFrames = known(entry.frames)
      reading.cameraHeight = number(entry.height)
    } else if (entry.type === 'outbound-rtp' && isSound)
      reading.soundPackets = (reading.soundPackets ?? 0) + number(entry.packetsSent)
    else if (entry.type === 'outbound-rtp') {
      const height = number(entry.frameHeight)
      sentFrames.set(height, (sentFrames.get(height) ?? 0) + number(entry.framesSent))
      if (entry.qualityLimitationReason === 'bandwidth') reading.isLimited = true
    } else if (entry.type === 'remote-inbound-rtp' && isSound) reading.loss = number(entry.fractionLost)
    else if (entry.type === 'candidate-pair' && entry.nominated === true) {
      const seconds = entry.currentRoundTripTime
      if (typeof seconds === 'number') reading.roundTripMs = seconds * 1_000
    }
  })
  return reading
}

function known(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
