import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WhepEndpoint, type PeerSession } from './whep-endpoint.ts'
import type { Peer } from './peer.ts'
import { freePort } from '../../support/free-port.ts'

const program = '/usr/bin/janus'
const mountpoint = 1
const startMs = 10_000

interface Message {
  janus: string
  data?: { id: number }
  error?: { reason: string }
  plugindata?: { data: { error?: string } }
  jsep?: { sdp: string }
}

/**
 * Starts Janus with its Streaming plugin, which sends the offer to its viewers and pulls the camera itself.
 * @throws Error with the command that installs it
 */
export async function startJanus(folder: string, camera: string): Promise<Peer> {
  if (!existsSync(program)) throw new Error('Janus is missing: apt-get install janus')
  const settings = join(folder, 'janus')
  await mkdir(settings, { recursive: true })
  const port = await freePort()
  await writeFile(join(settings, 'janus.jcfg'), configuration(settings))
  await writeFile(
    join(settings, 'janus.transport.http.jcfg'),
    `general: { json = "compact" base_path = "/janus" http = true port = ${port} ip = "127.0.0.1" https = false }\nadmin: { admin_http = false }\n`,
  )
  const child = spawn(program, ['-o', '-F', settings], { stdio: 'ignore' })
  process.once('exit', () => child.kill('SIGKILL'))
  const api = new JanusApi(`http://127.0.0.1:${port}/janus`)
  await api.ready()
  const keeper = await api.attach()
  const video = {
    request: 'create',
    type: 'rtsp',
    id: mountpoint,
    permanent: false,
    url: camera,
    audio: false,
    video: true,
  }
  await api.ask(keeper, { janus: 'message', body: video })
  const endpoint = await WhepEndpoint.listen(async () => await watch(api))
  return {
    name: 'Janus',
    pid: child.pid ?? 0,
    url: endpoint.url,
    whep: `${endpoint.url}/whep`,
    token: '',
    offers: true,
    async [Symbol.asyncDispose]() {
      await endpoint[Symbol.asyncDispose]()
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

async function watch(api: JanusApi): Promise<PeerSession> {
  const path = await api.attach()
  const [session = ''] = path.split('/')
  await api.ask(path, { janus: 'message', body: { request: 'watch', id: mountpoint } })
  const offer = await api.event(session)
  return {
    sdp: offer,
    answer: async (sdp) =>
      void (await api.ask(path, { janus: 'message', body: { request: 'start' }, jsep: { type: 'answer', sdp } })),
    end: async () => void (await api.ask(session, { janus: 'destroy' })),
  }
}

/** Its HTTP API. */
class JanusApi {
  readonly #url: string
  #transactions = 0

  constructor(url: string) {
    this.#url = url
  }

  async ready(): Promise<void> {
    for (const end = performance.now() + startMs; ; ) {
      const response = await fetch(`${this.#url}/info`).catch(() => undefined)
      if (response?.ok) return
      if (performance.now() > end) throw new Error('Janus does not answer')
      await sleep(50)
    }
  }

  /** Opens a session with a handle of the Streaming plugin. */
  async attach(): Promise<string> {
    const session = (await this.ask('', { janus: 'create' })).data?.id
    const handle = (await this.ask(`${session}`, { janus: 'attach', plugin: 'janus.plugin.streaming' })).data?.id
    return `${session}/${handle}`
  }

  /** @throws Error of Janus */
  async ask(path: string, message: object): Promise<Message> {
    this.#transactions += 1
    const body = JSON.stringify({ ...message, transaction: `t${this.#transactions}` })
    const response = await fetch(`${this.#url}${path === '' ? '' : '/'}${path}`, { method: 'POST', body })
    return checked((await response.json()) as Message)
  }

  /** Waits for the next description for a session. */
  async event(session: string): Promise<string> {
    for (;;) {
      const response = await fetch(`${this.#url}/${session}?maxev=1`)
      const message = checked((await response.json()) as Message)
      if (message.jsep !== undefined) return message.jsep.sdp
    }
  }
}

function checked(message: Message): Message {
  const error = message.error?.reason ?? message.plugindata?.data.error
  if (error !== undefined) throw new Error(`Janus: ${error}`)
  return message
}

/** Makes a configuration with only the plugin and transport in use; sessions stay until they are ended. */
function configuration(folder: string): string {
  return `general: {
  configs_folder = "${folder}"
  debug_level = 1
  session_timeout = 0
}
media: { ipv6 = false rtp_port_range = "20000-24999" }
nat: { full_trickle = false ice_lite = true }
plugins: {
  disable = "libjanus_audiobridge.so,libjanus_duktape.so,libjanus_echotest.so,libjanus_lua.so,libjanus_nosip.so,libjanus_recordplay.so,libjanus_sip.so,libjanus_textroom.so,libjanus_videocall.so,libjanus_videoroom.so,libjanus_voicemail.so"
}
transports: {
  disable = "libjanus_mqtt.so,libjanus_nanomsg.so,libjanus_pfunix.so,libjanus_rabbitmq.so,libjanus_websockets.so"
}
`
}
