/**
 * WHEP viewers on libdatachannel in a process of their own, so that their work is not the node's. Messages: `{open: n}`, `{cycles: n}` and `{count: true}`,
 * each answered with `{viewers, packets}`.
 */
import ndc, { type PeerConnection, type Track } from 'node-datachannel'

const [url = '', token = ''] = process.argv.slice(2)

interface Viewer {
  connection: PeerConnection
  tracks: Track[]
  session: string
}

const viewers: Viewer[] = []
/** Those who come and go, at a time: each waits for a second now and then, as the library repeats a lost message. */
const atOnce = 10
let packets = 0

function whenGathered(connection: PeerConnection): Promise<void> {
  return new Promise((resolve) => {
    connection.onGatheringStateChange((state) => {
      if (state === 'complete') resolve()
    })
  })
}

/** Connects and waits for the first packet. */
async function open(): Promise<Viewer> {
  const connection = new ndc.PeerConnection('viewer', {
    iceServers: [],
    bindAddress: '127.0.0.1',
    disableAutoNegotiation: true,
  })
  const video = new ndc.Video('0', 'RecvOnly')
  video.addH264Codec(102, 'level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f')
  const audio = new ndc.Audio('1', 'RecvOnly')
  audio.addAudioCodec(0, 'PCMU')
  const first = Promise.withResolvers<void>()
  const tracks = [connection.addTrack(video), connection.addTrack(audio)]
  for (const track of tracks) {
    // It answers sender reports, as a browser does.
    track.setMediaHandler(new ndc.RtcpReceivingSession())
    track.onClosed(() => {})
    track.onMessage(() => {
      packets += 1
      first.resolve()
    })
  }
  const gathered = whenGathered(connection)
  connection.setLocalDescription('offer')
  await gathered
  // Without its addresses: were the node first to call, the library could finish before it has noted whom it talks to.
  const body = (connection.localDescription()?.sdp ?? '').replace(/a=candidate:.*\r\n/g, '')
  const headers = { 'content-type': 'application/sdp', authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body })
  if (response.status !== 201) throw new Error(`the node answered ${response.status}: ${await response.text()}`)
  const session = new URL(response.headers.get('location') ?? '', url).href
  connection.setRemoteDescription(await response.text(), 'answer')
  const timer = setTimeout(() => first.reject(new Error('no packet came')), 10_000)
  await first.promise
  clearTimeout(timer)
  return { connection, tracks, session }
}

async function close({ connection, tracks, session }: Viewer): Promise<void> {
  await fetch(session, { method: 'DELETE' })
  for (const track of tracks) track.close()
  connection.close()
}

async function handle(message: { open?: number; cycles?: number }): Promise<void> {
  for (let i = 0; i < (message.open ?? 0); i++) viewers.push(await open())
  for (let left = message.cycles ?? 0; left > 0; left -= atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, left) }, async () => await close(await open())))
  }
  process.send?.({ viewers: viewers.length, packets })
}

process.on('message', (message: { open?: number; cycles?: number }) => {
  handle(message).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
