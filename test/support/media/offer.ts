/** Content of a handwritten offer. */
export interface OfferOptions {
  direction?: 'recvonly' | 'sendonly' | 'sendrecv' | 'inactive'
  /** Video codecs in order of preference; empty: no video. */
  video?: ('VP8' | 'H264' | 'AV1')[]
  audio?: boolean
  userFragment?: string
  candidates?: string[]
}

const rtpmaps = {
  VP8: ['a=rtpmap:96 VP8/90000', 'a=rtcp-fb:96 nack', 'a=rtcp-fb:96 nack pli'],
  H264: [
    'a=rtpmap:102 H264/90000',
    'a=rtcp-fb:102 nack',
    'a=rtcp-fb:102 nack pli',
    'a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f',
  ],
  AV1: ['a=rtpmap:45 AV1/90000'],
}
const payloads = { VP8: 96, H264: 102, AV1: 45 }

/** Makes an offer like a browser's. Nothing listens at its address, so no connection follows. */
export function offerSdp(options: OfferOptions = {}): string {
  const { direction = 'recvonly', video = ['VP8', 'H264'], audio = true } = options
  const mids = [video.length > 0 ? '0' : undefined, audio ? '1' : undefined].filter((mid) => mid !== undefined)
  const common = [
    'c=IN IP4 0.0.0.0',
    'a=rtcp:9 IN IP4 0.0.0.0',
    `a=ice-ufrag:${options.userFragment ?? 'gEzC'}`,
    'a=ice-pwd:dEq3rCqSGhbLrkKGbzQPmtZC',
    'a=ice-options:trickle',
    `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => '4A').join(':')}`,
    'a=setup:actpass',
    `a=${direction}`,
    'a=rtcp-mux',
    ...(options.candidates ?? []),
  ]
  const sections = [
    ...(video.length > 0
      ? [
          `m=video 9 UDP/TLS/RTP/SAVPF ${video.map((codec) => payloads[codec]).join(' ')}`,
          ...common,
          'a=mid:0',
          ...video.flatMap((codec) => rtpmaps[codec]),
        ]
      : []),
    ...(audio
      ? ['m=audio 9 UDP/TLS/RTP/SAVPF 111 0', ...common, 'a=mid:1', 'a=rtpmap:111 opus/48000/2', 'a=rtpmap:0 PCMU/8000']
      : []),
  ]
  const session = ['v=0', 'o=- 4611 2 IN IP4 127.0.0.1', 's=-', 't=0 0', `a=group:BUNDLE ${mids.join(' ')}`]
  return [...session, ...sections, ''].join('\r\n')
}
