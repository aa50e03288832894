/** Minimum length of a picture's shorter side for three layers and for two, in pixels. */
const threeFrom = 720
const twoFrom = 320
/** Maximum bitrate of the smaller layers. */
const quarterBitrate = 150_000
const halfBitrate = 500_000

/** No temporal layers: the node never drops them, and viewers would drop pictures that arrive slightly late. */
const scalabilityMode = 'L1T1'

/**
 * Simulcast layers of a picture (RFC 8853), the smallest first: the node sends each viewer the one that fits its tile
 * and its link.
 * @param maxBitrate bitrate of the largest, in bit/s
 */
export function layersOf(track: MediaStreamTrack, maxBitrate: number): RTCRtpEncodingParameters[] {
  const { width = 0, height = 0 } = track.getSettings()
  // A phone's picture may be in portrait format.
  const side = Math.min(width, height)
  const whole = { maxBitrate }
  if (side < twoFrom) return [whole]
  const half = {
    rid: 'm',
    scalabilityMode,
    scaleResolutionDownBy: 2,
    maxBitrate: side < threeFrom ? quarterBitrate : halfBitrate,
  }
  const two = [half, { rid: 'h', scalabilityMode, ...whole }]
  return side < threeFrom
    ? two
    : [{ rid: 'l', scalabilityMode, scaleResolutionDownBy: 4, maxBitrate: quarterBitrate }, ...two]
}
