import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { allChecks } from '../../server/lab/watch/client-watches.ts'
import clientChecks from '../../texts/en/console/clientChecks.json' with { type: 'json' }
import { ApiClient } from '../support/api-client.ts'
import { built } from '../support/built.ts'
import { freePort } from '../support/free-port.ts'
import { startHeadless } from '../support/headless.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

const credential = { label: 'Lab client', access_key: 'lab', secret_key: 'the secret', p2p: true }

/** A site of its own, and the commands of the page, in the order of the page. */
async function integrator() {
  const page = await readFile(join(import.meta.dirname, '../../docs/integrate/lab.md'), 'utf8')
  const site = await startHeadless({
    site: { credentials: [credential], nodes: [{ name: 'here', kind: 'embedded' }] },
  })
  const folder = await temporaryFolder()
  onTestFinished(() => site.remove())
  const commands = [...page.matchAll(/```sh\n(roomdesk [\s\S]*?)```/g)].map(([, text = '']) =>
    text
      .replaceAll('http://127.0.0.1:7080', site.ready.media)
      .replaceAll('http://127.0.0.1:7081', site.ready.device)
      // The ports of this site do not follow one another.
      .replace('--pace fast', `--device ${site.ready.device} --pace fast`),
  )
  const command = (word: string): string => {
    const [found, ...more] = commands.filter((text) => text.startsWith(`roomdesk ${word} `))
    if (found === undefined || more.length > 0) throw new Error(`The page has ${more.length + 1} commands ${word}.`)
    return `roomdesk() { exec "${process.execPath}" "${built('server/headless.js')}" "$@"; }\n${found}`
  }
  const env = (more: Record<string, string>) => ({
    cwd: folder,
    env: { ...process.env, ACCESS_KEY: credential.access_key, SECRET_KEY: credential.secret_key, ...more },
  })
  const run = async (word: string, more: Record<string, string> = {}): Promise<string> =>
    (await promisify(execFile)('sh', ['-eu', '-c', command(word)], env(more))).stdout
  return { site, folder, command, run, env, client: new ApiClient(site.ready, credential) }
}

test('docs/integrate/lab.md lists every rule for clients with its title, id and source', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/integrate/lab.md'), 'utf8')
  const { checks } = clientChecks
  const rows = allChecks.map(({ id, source }) => {
    return `| ${checks[id].title} | \`${id}\` | ${source.document} ${source.section} |`
  })
  expect(page).toContain(rows.join('\n'))
})

test('An integrator checks a server by docs/integrate/lab.md, from the first start to a green report', async () => {
  const { run, folder } = await integrator()
  // A broken rule would end it with exit code 1.
  await run('conformance')
  expect(await readFile(join(folder, 'conformance.xml'), 'utf8')).toContain('<testsuites')
}, 120_000)

test('An integrator records a client, replays it, and gets a signed report about it', async () => {
  const { site, run, folder, client } = await integrator()
  await site.rpc('clients.watch', { access_key: credential.access_key, running: true })
  await site.rpc('lab.record_traffic', { running: true })
  await client.authenticate()
  const room = await client.createRoom({ topic: 'Yard' })
  await client.get('/rtc/room/get', { room_id: room })
  await client.get('/rtc/room/del', { room_id: room })
  await site.rpc('lab.record_traffic', { running: false })
  await writeFile(join(folder, 'traffic.ndjson'), (await site.rpc('lab.traffic_file', {})).text)
  expect(await run('replay')).toContain('4 answered as recorded.')
  const { text } = await site.rpc('clients.report', { access_key: credential.access_key })
  await writeFile(join(folder, 'roomdesk-client.html'), text)
  const { report_key } = await site.rpc('clients.checks', { access_key: credential.access_key })
  expect(await run('check-report', { REPORT_KEY: report_key })).toContain('as it was signed')
})

test('An integrator starts a test camera, and lets people join', async () => {
  const { command, env } = await integrator()
  const start = (text: string) => {
    const child = spawn('sh', ['-eu', '-c', text], { ...env({}), stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  const port = await freePort()
  const camera = start(command('camera').replace('--port 8554', `--port ${port}`))
  const [address] = (await once(createInterface(camera.stdout), 'line')) as [string]
  expect(address).toBe(`rtsp://127.0.0.1:${port}/camera`)
  camera.kill('SIGTERM')
  expect(await once(camera, 'exit')).toEqual([0, null])
  const people = start(command('people').replace('random=30', 'at-once --for 8').replace('--people 20', '--people 4'))
  let said = ''
  people.stdout.on('data', (text: Buffer) => (said += text.toString()))
  expect(await once(people, 'exit')).toEqual([0, null])
  expect(said).toContain('4 of 4 people joined')
}, 60_000)
