/** Shorter side of a picture, in pixels, from which on it is sent in three sizes, and in two. */
const threeFrom = 720
const twoFrom = 320
/** Most bits a second of the smaller sizes. */
const quarterBitrate = 150_000
const halfBitrate = 500_000

/** One picture after the other: of finer parts (temporal layers) nothing would be left out by the node, but by viewers, wherever pictures come a little late. */
const scalabilityMode = 'L1T1'

/**
 * In which sizes a picture is sent at once (simulcast, RFC 8853), the smallest first: the node gives each viewer the one that fits its tile and its link.
 * @param maxBitrate of the largest, in bits a second
 */
export function layersOf(track: MediaStreamTrack, maxBitrate: number): RTCRtpEncodingParameters[] {
  const { width = 0, height = 0 } = track.getSettings()
  // Phones are held upright.
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
