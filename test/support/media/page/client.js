// A WHIP publisher, a WHEP viewer and a peer of a peer-to-peer room, for tests: `client.<name>(...)` in the page. Uses no code of the node.
const peers = new Map()

/** @param {RTCPeerConnection} connection */
const gathered = (connection) =>
  new Promise((resolve) => {
    if (connection.iceGatheringState === 'complete') resolve()
    else {
      connection.addEventListener('icegatheringstatechange', () => {
        if (connection.iceGatheringState === 'complete') resolve()
      })
    }
  })

/** Keeps one of the node's addresses in an answer. */
const onlyThrough = (sdp, address) =>
  address === '' ? sdp : sdp.replace(/a=candidate:.*\r\n/g, (line) => (line.includes(` ${address} `) ? line : ''))

/** Removes transport-wide feedback from an offer. */
const withoutTransportFeedback = (sdp) => sdp.replace(/a=rtcp-fb:\d+ transport-cc\r\n/g, '')

/** Sends its addresses in the offer, later, or never: then the node uses the source address of its packets. */
async function exchange(peer, url, token, addresses, through = '', transportFeedback = true) {
  const { connection } = peer
  const late = []
  connection.addEventListener('icecandidate', ({ candidate }) => candidate?.candidate && late.push(candidate))
  await connection.setLocalDescription()
  if (addresses === 'offer') await gathered(connection)
  const whole = connection.localDescription.sdp
  const reached = addresses === 'offer' ? whole : whole.replace(/a=candidate:.*\r\n/g, '')
  const sdp = transportFeedback ? reached : withoutTransportFeedback(reached)
  const headers = { 'content-type': 'application/sdp' }
  if (token !== '') headers.authorization = `Bearer ${token}`
  peer.offeredAt = performance.now()
  const response = await fetch(url, { method: 'POST', headers, body: sdp })
  const body = await response.text()
  if (response.status !== 201) {
    connection.close()
    return { status: response.status, problem: JSON.parse(body), sdp: '' }
  }
  peer.session = new URL(response.headers.get('location'), response.url).href
  await connection.setRemoteDescription({ type: 'answer', sdp: onlyThrough(body, through) })
  if (addresses === 'later') {
    await gathered(connection)
    const fragment = sdp.match(/a=ice-ufrag:.*\r\n/)[0] + sdp.match(/a=ice-pwd:.*\r\n/)[0]
    const lines = late.map(({ candidate, sdpMid }) => `a=mid:${sdpMid}\r\na=${candidate}\r\n`).join('')
    const patched = await fetch(peer.session, {
      method: 'PATCH',
      headers: { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': response.headers.get('etag') },
      body: fragment + lines,
    })
    peer.patched = patched.status
  }
  return { status: 201, problem: null, sdp: body }
}

function show(name, stream) {
  const video = document.createElement('video')
  video.id = name
  video.autoplay = true
  video.srcObject = stream
  document.body.append(video)
  return video
}

function preferred(kind, codec) {
  const { codecs } = RTCRtpReceiver.getCapabilities(kind)
  return codecs.filter(({ mimeType }) => mimeType.toLowerCase() === `${kind}/${codec}`.toLowerCase())
}

/** Watches a stream; `codec` limits the video offered. */
async function watch(name, url, token, { addresses = 'offer', codec = '', through = '' } = {}) {
  const connection = new RTCPeerConnection()
  const stream = new MediaStream()
  const peer = { connection, session: '', video: show(name, stream), firstFrameAt: 0 }
  peers.set(name, peer)
  const video = connection.addTransceiver('video', { direction: 'recvonly' })
  connection.addTransceiver('audio', { direction: 'recvonly' })
  if (codec !== '') video.setCodecPreferences(preferred('video', codec))
  connection.addEventListener('track', ({ track }) => stream.addTrack(track))
  peer.video.requestVideoFrameCallback(() => (peer.firstFrameAt = performance.now()))
  return await exchange(peer, url, token, addresses, through)
}

/** Watches a stream where the server sends the offer (draft-murillo-whep-01, section 4.2). */
async function watchOffered(name, url, token = '') {
  const connection = new RTCPeerConnection()
  const stream = new MediaStream()
  const peer = { connection, session: '', video: show(name, stream), firstFrameAt: 0, offeredAt: performance.now() }
  peers.set(name, peer)
  connection.addEventListener('track', ({ track }) => stream.addTrack(track))
  peer.video.requestVideoFrameCallback(() => (peer.firstFrameAt = performance.now()))
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers, body: '' })
  peer.session = new URL(response.headers.get('location'), response.url).href
  const sdp = await response.text()
  await connection.setRemoteDescription({ type: 'offer', sdp })
  await connection.setLocalDescription()
  const answer = connection.localDescription.sdp.replace(/a=ice-options:trickle\r\n/g, '')
  await fetch(peer.session, { method: 'PATCH', headers: { 'content-type': 'application/sdp' }, body: answer })
  return { status: response.status, problem: null, sdp }
}

/** Layers of a picture of 720 lines, as in the room page. */
const layers = [
  { rid: 'l', scaleResolutionDownBy: 4, maxBitrate: 150_000, scalabilityMode: 'L1T1' },
  { rid: 'm', scaleResolutionDownBy: 2, maxBitrate: 450_000, scalabilityMode: 'L1T1' },
  { rid: 'h', maxBitrate: 1_700_000, scalabilityMode: 'L1T1' },
]

/** Makes pictures of noise, which take all the bandwidth that an encoder may use. */
function noise(width, height, frameRate) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d')
  const grain = context.createImageData(width, height)
  for (let i = 0; i < grain.data.length; i += 4) {
    grain.data.fill(96 + Math.random() * 64, i, i + 3)
    grain.data[i + 3] = 255
  }
  const timer = setInterval(() => {
    // Shifts the same grain, which is cheaper than new grain.
    context.putImageData(grain, -Math.random() * 32, -Math.random() * 32)
  }, 1_000 / frameRate)
  return { track: canvas.captureStream(frameRate).getVideoTracks()[0], stop: () => clearInterval(timer) }
}

/** Publishes the fake camera, or noise, and the fake microphone; `layered`: in three layers; `small`: at little cost. */
async function publish(
  name,
  url,
  token,
  {
    video = true,
    audio = true,
    codec = '',
    addresses = 'offer',
    layered = false,
    small = false,
    through = '',
    pictures = 'camera',
    transportFeedback = true,
  } = {},
) {
  const connection = new RTCPeerConnection()
  const [width, height, frameRate] = layered ? [1280, 720, 20] : small ? [160, 90, 10] : [640, 360, 20]
  const filmed = video && pictures === 'camera' && { width, height, frameRate }
  // Voice processing of a browser costs more than everything else here.
  const heard = audio && small ? { echoCancellation: false, noiseSuppression: false, autoGainControl: false } : audio
  const stream = await navigator.mediaDevices.getUserMedia({ video: filmed, audio: heard })
  const drawn = video && pictures === 'noise' ? noise(width, height, frameRate) : undefined
  if (drawn !== undefined) stream.addTrack(drawn.track)
  const peer = { connection, session: '', stream, stop: drawn?.stop }
  peers.set(name, peer)
  for (const track of stream.getTracks()) {
    const encodings = layered && track.kind === 'video' ? { sendEncodings: layers } : {}
    const transceiver = connection.addTransceiver(track, { direction: 'sendonly', streams: [stream], ...encodings })
    if (track.kind === 'video' && codec !== '') transceiver.setCodecPreferences(preferred('video', codec))
  }
  return await exchange(peer, url, token, addresses, through, transportFeedback)
}

/** Selects the layers to send from now on. */
async function activate(name, rids) {
  for (const sender of peers.get(name).connection.getSenders()) {
    if (sender.track.kind !== 'video') continue
    const parameters = sender.getParameters()
    for (const encoding of parameters.encodings) encoding.active = rids.includes(encoding.rid)
    await sender.setParameters(parameters)
  }
}

/** Reads getStats for each kind of media. */
async function stats(name) {
  const { connection, offeredAt, firstFrameAt, patched = 0 } = peers.get(name)
  const found = {
    state: connection.connectionState,
    patched,
    firstFrameMs: firstFrameAt ? firstFrameAt - offeredAt : 0,
  }
  for (const report of (await connection.getStats()).values()) {
    if (report.type === 'candidate-pair') {
      found.availableBitrate = Math.max(found.availableBitrate ?? 0, report.availableOutgoingBitrate ?? 0)
    }
    if (report.type === 'inbound-rtp' || report.type === 'outbound-rtp') {
      const side = report.type === 'inbound-rtp' ? report.kind : `${report.kind}Sent`
      // Of several layers, the largest counts.
      if ((found[side]?.height ?? 0) > (report.frameHeight ?? 0)) continue
      found[side] = {
        framesDecoded: report.framesDecoded ?? report.framesEncoded ?? 0,
        framesPerSecond: report.framesPerSecond ?? 0,
        framesReceived: report.framesReceived ?? 0,
        framesDropped: report.framesDropped ?? 0,
        packets: report.packetsReceived ?? report.packetsSent ?? 0,
        bytes: report.bytesReceived ?? report.bytesSent ?? 0,
        packetsLost: report.packetsLost ?? 0,
        freezes: report.freezeCount ?? 0,
        energy: report.totalAudioEnergy ?? 0,
        keyFrames: report.keyFramesDecoded ?? report.keyFramesEncoded ?? 0,
        targetBitrate: report.targetBitrate ?? 0,
        nacks: report.nackCount ?? 0,
        height: report.frameHeight ?? 0,
        samples: report.totalSamplesReceived ?? 0,
        concealed: report.concealedSamples ?? 0,
      }
    }
  }
  return found
}

/** Intervals [from, to] in which this page did not run: gaps in them are not the network's fault. */
const stalls = []
const stallMs = 300
let observing = false

/** Records when the decoder outputs pictures of a watched stream. They are no longer rendered: rendering many costs more than everything else. */
function observe(name) {
  const peer = peers.get(name)
  peer.maxGapMs = 0
  peer.shownAt = performance.now()
  const [track] = peer.video.srcObject.getVideoTracks()
  peer.video.srcObject = null
  void notePictures(peer, new MediaStreamTrackProcessor({ track }).readable.getReader())
  if (observing) return
  observing = true
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    if (now - last > stallMs) stalls.push([last, now])
    last = now
    while (stalls.length > 100) stalls.shift()
  }, 50)
}

async function notePictures(peer, reader) {
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    value.close()
    noteGap(peer)
    peer.shownAt = performance.now()
  }
}

function noteGap(peer) {
  const now = performance.now()
  let gap = now - peer.shownAt
  for (const [from, to] of stalls) if (to > peer.shownAt) gap -= to - Math.max(from, peer.shownAt)
  peer.maxGapMs = Math.max(peer.maxGapMs, gap)
}

/** Maximum interval without a new picture since the last call, in milliseconds, including the current one; 0 if not observed. */
function maxGap(name) {
  const peer = peers.get(name)
  if (peer?.shownAt === undefined) return 0
  noteGap(peer)
  const longest = peer.maxGapMs
  peer.maxGapMs = 0
  return longest
}

/** Ends it, with DELETE if `polite`, else by closing the connection. Returns the status of DELETE. */
async function close(name, polite) {
  const { connection, session, stream, stop, video } = peers.get(name)
  peers.delete(name)
  const status = polite && session !== '' ? (await fetch(session, { method: 'DELETE' })).status : 0
  connection.close()
  for (const track of stream?.getTracks() ?? []) track.stop()
  stop?.()
  video?.remove()
  return status
}

/** Restarts ICE (RFC 9725, section 4.3.3). Returns the fragment of the node's answer, or its status. */
async function restart(name) {
  const { connection, session } = peers.get(name)
  const remote = connection.currentRemoteDescription.sdp
  await connection.setLocalDescription(await connection.createOffer({ iceRestart: true }))
  const { sdp } = connection.localDescription
  const line = (text, what) => text.match(new RegExp(`a=${what}:.*\\r\\n`))[0]
  const response = await fetch(session, {
    method: 'PATCH',
    headers: { 'content-type': 'application/trickle-ice-sdpfrag', 'if-match': '*' },
    body: `${line(sdp, 'ice-ufrag')}${line(sdp, 'ice-pwd')}`,
  })
  if (response.status !== 200) return String(response.status)
  const fragment = await response.text()
  const candidates = fragment.match(/a=candidate:.*\r\n/g).join('')
  const answer = remote
    .replace(/a=(candidate|end-of-candidates).*\r\n/g, '')
    .replace(/a=ice-ufrag:.*\r\n/g, line(fragment, 'ice-ufrag'))
    .replace(/a=ice-pwd:.*\r\n/g, line(fragment, 'ice-pwd'))
    .replace(/a=setup:actpass/g, 'a=setup:passive')
    .replace(/(m=.*\r\nc=.*\r\n)/, `$1${candidates}`)
  await connection.setRemoteDescription({ type: 'answer', sdp: answer })
  return fragment
}

/** Tells whether the node has ended the session: it then refuses further candidates. */
async function isOver(name) {
  const { connection, session } = peers.get(name)
  const response = await fetch(session, {
    method: 'PATCH',
    headers: { 'content-type': 'application/trickle-ice-sdpfrag' },
    body: `${connection.localDescription.sdp.match(/a=ice-ufrag:.*\r\n/)[0]}a=end-of-candidates\r\n`,
  })
  return response.status === 404
}

/** Switches sound or picture of a publisher on or off at the source. */
function enable(name, kind, on) {
  for (const track of peers.get(name).stream.getTracks()) if (track.kind === kind) track.enabled = on
}

/** Reads colours of a PNG, red, green and blue of 0 to 255, at places given as shares of its size. */
async function colours(png, places) {
  const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d')
  context.drawImage(bitmap, 0, 0)
  return places.map(([x, y]) => [
    ...context.getImageData(Math.floor(x * bitmap.width), Math.floor(y * bitmap.height), 1, 1).data.slice(0, 3),
  ])
}

/** Creates one side of a peer-to-peer connection. Candidates are collected for the other side. */
async function peerOffer(name) {
  const connection = new RTCPeerConnection()
  const stream = await navigator.mediaDevices.getUserMedia({ video: true, audio: true })
  const peer = { connection, session: '', stream, candidates: [] }
  peers.set(name, peer)
  connection.addEventListener('icecandidate', ({ candidate }) => candidate && peer.candidates.push(candidate.toJSON()))
  for (const track of stream.getTracks()) connection.addTrack(track, stream)
  await connection.setLocalDescription()
  await gathered(connection)
  return connection.localDescription.sdp.replace(/a=candidate:.*\r\n/g, '')
}

async function peerAnswer(name, sdp) {
  const connection = new RTCPeerConnection()
  const remote = new MediaStream()
  const peer = { connection, session: '', candidates: [], video: show(name, remote) }
  peers.set(name, peer)
  connection.addEventListener('track', ({ track }) => remote.addTrack(track))
  connection.addEventListener('icecandidate', ({ candidate }) => candidate && peer.candidates.push(candidate.toJSON()))
  await connection.setRemoteDescription({ type: 'offer', sdp })
  await connection.setLocalDescription()
  await gathered(connection)
  return connection.localDescription.sdp.replace(/a=candidate:.*\r\n/g, '')
}

const peerCandidates = (name) => peers.get(name).candidates.filter(({ candidate }) => candidate)
const peerFinish = async (name, sdp) => await peers.get(name).connection.setRemoteDescription({ type: 'answer', sdp })
const peerAddress = async (name, candidate, sdpMid) =>
  await peers.get(name).connection.addIceCandidate({ candidate, sdpMid })

globalThis.client = {
  watch,
  watchOffered,
  publish,
  stats,
  observe,
  maxGap,
  close,
  isOver,
  restart,
  enable,
  activate,
  colours,
  peerOffer,
  peerAnswer,
  peerCandidates,
  peerFinish,
  peerAddress,
}
