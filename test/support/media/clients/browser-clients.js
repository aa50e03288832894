// The published WHIP and WHEP clients for browsers, for a page: `clients.<name>`.
import { WHIPClient as EyevinnClient } from '@eyevinn/whip-web-client'
import { WHEPClient } from 'whip-whep/whep.js'
import { WHIPClient } from 'whip-whep/whip.js'

const open = {}

async function camera() {
  return await navigator.mediaDevices.getUserMedia({ video: { width: 320, height: 180, frameRate: 15 }, audio: true })
}

function preferCodec(connection, codec) {
  const { codecs } = RTCRtpReceiver.getCapabilities('video')
  const chosen = codecs.filter(({ mimeType }) => mimeType === `video/${codec}`)
  for (const transceiver of connection.getTransceivers()) {
    const kind = transceiver.sender.track?.kind ?? transceiver.receiver.track.kind
    if (kind === 'video') transceiver.setCodecPreferences(chosen)
  }
}

globalThis.clients = {
  /** Publishes with whip-whep. */
  async publish(url, token, codec) {
    const connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' })
    for (const track of (await camera()).getTracks()) connection.addTransceiver(track, { direction: 'sendonly' })
    preferCodec(connection, codec)
    open.publisher = new WHIPClient()
    await open.publisher.publish(connection, url, token)
  },
  /** Watches with whip-whep. */
  async watch(url, token, codec) {
    const connection = new RTCPeerConnection({ bundlePolicy: 'max-bundle' })
    connection.addTransceiver('video', { direction: 'recvonly' })
    connection.addTransceiver('audio', { direction: 'recvonly' })
    preferCodec(connection, codec)
    open.viewer = new WHEPClient()
    await open.viewer.view(connection, url, token)
    open.viewing = connection
  },
  /** Number of pictures decoded. */
  async decoded() {
    for (const report of (await open.viewing.getStats()).values()) {
      if (report.type === 'inbound-rtp' && report.kind === 'video') return report.framesDecoded
    }
    return 0
  },
  restart: async () => await open.publisher.restart(),
  async end() {
    await open.publisher?.stop()
    await open.viewer?.stop()
  },
  /** Publishes with Eyevinn's client. */
  async publishEyevinn(endpoint, authkey) {
    open.eyevinn = new EyevinnClient({ endpoint, opts: { authkey } })
    await open.eyevinn.ingest(await camera())
  },
  endEyevinn: async () => await open.eyevinn.destroy(),
}
