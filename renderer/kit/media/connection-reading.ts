/** An entry of getStats: its fields depend on type and browser. */
export type StatsEntry = Record<string, unknown>

/** Totals of a connection at one moment; two of them give rates. */
export class ConnectionReading {
  /** Milliseconds since the page began. */
  at = performance.now()
  videoBytes = 0
  audioBytes = 0
  /** Pictures decoded, or encoded by a sender. */
  frames = 0
  packets = 0
  lost = 0
  width = 0
  height = 0
  /** e.g. `H264`; empty for none. */
  videoCodec = ''
  audioCodec = ''
  /** Milliseconds; undefined while unknown. */
  roundTripMs: number | undefined
  /** Total time that the picture stood still, in milliseconds. */
  frozenMs = 0
}

/** Rates between two readings. */
export interface ConnectionRates {
  /** Bits per second. */
  videoBitrate: number
  audioBitrate: number
  fps: number
  /** Share of packets lost, 0 to 1. */
  loss: number
  /** Share of time that the picture stood still, 0 to 1. */
  frozen: number
  roundTripMs: number | undefined
}

/** Reads what a connection has received or sent (getStats). */
export async function readConnection(connection: RTCPeerConnection): Promise<ConnectionReading> {
  const reading = new ConnectionReading()
  const report = await connection.getStats()
  report.forEach((entry: StatsEntry) => {
    if (entry.type === 'inbound-rtp' || entry.type === 'outbound-rtp') addStream(reading, entry, report)
    else if (entry.type === 'remote-inbound-rtp') reading.lost += Math.max(0, numberOf(entry.packetsLost))
    else if (entry.type === 'candidate-pair' && entry.nominated === true)
      reading.roundTripMs = roundTripOf(entry) ?? reading.roundTripMs
  })
  return reading
}

/** Computes rates between two readings of one connection; undefined if no time has passed. */
export function ratesBetween(before: ConnectionReading, after: ConnectionReading): ConnectionRates | undefined {
  const seconds = (after.at - before.at) / 1_000
  if (seconds <= 0) return undefined
  const per = (from: number, to: number): number => Math.max(0, to - from) / seconds
  const lost = Math.max(0, after.lost - before.lost)
  const packets = Math.max(0, after.packets - before.packets)
  return {
    videoBitrate: per(before.videoBytes, after.videoBytes) * 8,
    audioBitrate: per(before.audioBytes, after.audioBytes) * 8,
    fps: per(before.frames, after.frames),
    loss: lost + packets === 0 ? 0 : lost / (lost + packets),
    frozen: Math.min(1, per(before.frozenMs, after.frozenMs) / 1_000),
    roundTripMs: after.roundTripMs,
  }
}

function addStream(reading: ConnectionReading, entry: StatsEntry, report: RTCStatsReport): void {
  const codec = codecOf(entry, report)
  const bytes = numberOf(entry.bytesReceived) + numberOf(entry.bytesSent)
  reading.packets += numberOf(entry.packetsReceived) + numberOf(entry.packetsSent)
  if (entry.type === 'inbound-rtp') reading.lost += Math.max(0, numberOf(entry.packetsLost))
  if (entry.kind === 'audio') {
    reading.audioBytes += bytes
    reading.audioCodec ||= codec
    return
  }
  reading.videoBytes += bytes
  reading.videoCodec ||= codec
  reading.frames += numberOf(entry.framesDecoded) + numberOf(entry.framesEncoded)
  reading.width = Math.max(reading.width, numberOf(entry.frameWidth))
  reading.height = Math.max(reading.height, numberOf(entry.frameHeight))
  reading.frozenMs += numberOf(entry.totalFreezesDuration) * 1_000
}

/** Converts `video/H264` to `H264`. */
function codecOf(entry: StatsEntry, report: RTCStatsReport): string {
  if (typeof entry.codecId !== 'string') return ''
  const codec: unknown = report.get(entry.codecId)
  if (typeof codec !== 'object' || codec === null || !('mimeType' in codec)) return ''
  return typeof codec.mimeType === 'string' ? (codec.mimeType.split('/')[1] ?? '') : ''
}

/** Returns a number of an entry; 0: the browser does not report it. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** Returns the round-trip time of a candidate pair, in milliseconds; undefined: unknown. */
export function roundTripOf({ currentRoundTripTime: seconds }: StatsEntry): number | undefined {
  return typeof seconds === 'number' ? seconds * 1_000 : undefined
}
