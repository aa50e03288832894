import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import type { Logger } from 'pino'
import { Parser, type ReadEntry } from 'tar'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Scrubber } from '../../../server/diagnostics/scrubber.ts'
import { createLog, RecentLog } from '../../../server/observe/log.ts'
import { diagnosticsPart } from '../../../shared/console/diagnostics.ts'
import type { ProcedureInput } from '../../../shared/console/contract.ts'
import { type ControllerSite, openControllerSite, password } from '../../support/sites/controller-site.ts'

/** A secret of each kind that a site can have, as people choose them or as programs make them. */
const secrets = {
  credential: 'lobby secret 17',
  hostPassword: '2468',
  cameraPassword: 'kamera,Pass9',
  passwordInAddress: 'Rtsp8Geheim',
  passwordInPath: 'user=admin_password=Pfad77wort',
  assistPassword: 'assist!Pw5',
  turn: 'turn%credential&3',
  objectStorage: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  janusApi: 'janus api "quoted"',
  janusAdmin: 'janus-admin-91',
  janusToken: 'janus-token-55',
  trashedCredential: 'deleted lobby 4',
  sealedByOwner: password,
  loginInParameter: 'Fremd;Kennwort5',
  signatureInParameter: 'unterschrift.7',
}

let site: ControllerSite
let folder: string
let logger: Logger
let key: string
/** Secrets that the site made by itself. */
const made: Record<string, string> = {}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-traces-'))
  await mkdir(join(folder, 'crashes/completed'), { recursive: true })
  await writeFile(join(folder, 'crashes/completed/one.dmp'), 'MDMP memory of the program')
  await writeFile(join(folder, 'roomdesk.log'), `{"msg":"an earlier process","note":"${secrets.turn}"}\n`)
  const recentLog = new RecentLog({ write: () => {} })
  logger = createLog('trace', recentLog)
  site = await openControllerSite(
    {
      credentials: [
        { access_key: 'lobby', secret_key: secrets.credential, label: 'Lobby' },
        { access_key: 'old', secret_key: secrets.trashedCredential, label: 'Old' },
      ],
      nodes: [
        { name: 'lab', kind: 'simulated' },
        {
          ...{ name: 'janus', kind: 'janus', ws_url: 'ws://127.0.0.1:9', enabled: false },
          ...{ api_secret: secrets.janusApi, admin_secret: secrets.janusAdmin, token_secret: secrets.janusToken },
        },
      ],
      settings: {
        media: { ice_servers: [{ urls: ['turn:10.0.0.1'], username: 'media', credential: secrets.turn }] },
        object_storage: { access_key_id: 'AKIAEXAMPLE', secret_access_key: secrets.objectStorage },
      },
    },
    {
      logger,
      diagnostics: {
        recentLog: () => recentLog.text,
        logFiles: [join(folder, 'roomdesk.log'), join(folder, 'roomdesk.log.old')],
        crashFolder: join(folder, 'crashes'),
      },
    },
  )
  key = await site.key()
  const room = await site.call(key, 'rooms.create', {
    topic: 'Quarterly figures of Kowalski',
    host_password: secrets.hostPassword,
  })
  const device = { roomId: room.room_id, userName: 'Door' }
  const add = async (input: { userId: string; userAddress: string } & Partial<ProcedureInput<'devices.create'>>) =>
    await site.call(key, 'devices.create', { ...device, ...input })
  await add({
    userId: 'one',
    userAddress: 'rtsp://127.0.0.1:9/live',
    login_name: 'operator',
    login_password: secrets.cameraPassword,
  })
  await add({ userId: 'two', userAddress: `rtsp://admin:${secrets.passwordInAddress}@127.0.0.1:9/live` })
  await add({
    ...{ userId: 'three', userAddress: `rtsp://127.0.0.1:9/${secrets.passwordInPath}&channel=1` },
    assist_address: `rtsp://admin:${secrets.assistPassword}@127.0.0.1:9/second`,
  })
  await site.call(key, 'credentials.delete', { access_key: 'old' })
  await site.create('Małgorzata', 'admin')
  made.cookie = (await site.signIn('Małgorzata')).replace(/^[^=]+=/, '')
  made.token = (
    await site.call(`roomdesk_session=${made.cookie}`, 'account.create_token', {
      label: 'script',
      role: 'viewer',
      scopes: ['rooms:read'],
    })
  ).token
  made.consoleKey = key
  made.sealKey = (await readFile(join(site.folder, 'seal.key'), 'utf8')).trim()
  made.link = new URL(
    (await site.call(key, 'media.join_link', { room_id: room.room_id, role: 'member' })).url,
  ).hash.replace(/^.*=/, '')
  return async () => {
    await site.remove()
    await rm(folder, { recursive: true, force: true })
  }
})

/** Makes an archive, reads it part by part and unpacks it: files by their name. */
async function saved(choice: ProcedureInput<'diagnostics.make'> = {}): Promise<Map<string, string>> {
  const { name, bytes } = await site.call(key, 'diagnostics.make', choice)
  const parts: Buffer[] = []
  for (let offset = 0; offset < bytes; offset += diagnosticsPart) {
    const { data, total } = await site.call(key, 'diagnostics.read', { name, offset, length: diagnosticsPart })
    expect(total).toBe(bytes)
    parts.push(Buffer.from(data, 'base64'))
  }
  const archive = Buffer.concat(parts)
  expect(archive).toHaveLength(bytes)
  const files = new Map<string, string>()
  const reading: Promise<void>[] = []
  const parser = new Parser({
    onReadEntry: (entry: ReadEntry) => {
      if (entry.type === 'Directory') return void entry.resume()
      reading.push(
        entry.concat().then((content) => {
          files.set(entry.path.replace(`${name}/`, ''), content.toString())
        }),
      )
    },
  })
  await pipeline(Readable.from([archive]), parser)
  await Promise.all(reading)
  return files
}

/** Secrets that a text holds, in any spelling, by their kind. */
function heldIn(content: string): string[] {
  return Object.entries({ ...secrets, ...made }).flatMap(([kind, secret]) => {
    const spellings = [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
    ]
    return spellings.some((one) => content.includes(one)) ? [kind] : []
  })
}

test('texts that look like keys or logins are removed, whatever their source', async () => {
  const scrubber = new Scrubber(['a.b', 'ab'], undefined)
  const scrubbed = async (given: string): Promise<string> => await scrubber.scrub(given)
  expect(await scrubbed('-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----\nnext')).toBe(
    '[removed]\nnext',
  )
  expect(await scrubbed('"authorization":"Bearer abc.def"')).toBe('"authorization":"Bearer [removed]"')
  expect(await scrubbed('rtsp://root:x@10.0.0.9/1')).toBe('rtsp://[removed]@10.0.0.9/1')
  // Addresses stand in the parameters of others, too, once or twice encoded.
  expect(await scrubbed('GET /probe?url=rtsp%3A%2F%2Fadmin%3Apw%4010.0.0.9%2F1&x=1')).toBe(
    'GET /probe?url=rtsp%3A%2F%2F[removed]%4010.0.0.9%2F1&x=1',
  )
  expect(await scrubbed('url=rtsps%253a%252f%252Fadmin%253Ap%2540w%2540cam%252F1')).toBe(
    'url=rtsps%253a%252f%252F[removed]%2540cam%252F1',
  )
  expect(await scrubbed('url=https%3A%2F%2Fcam%2F1&mail=ann%40cam')).toBe('url=https%3A%2F%2Fcam%2F1&mail=ann%40cam')
  for (const name of ['key', 'sig', 'signature', 'streamkey', 'X-Amz-Signature', 'stream_key', 'token', 'password']) {
    expect(await scrubbed(`"url":"http://cam/live?ch=1&${name}=s3cret.%2Bx&n=2"`)).toBe(
      `"url":"http://cam/live?ch=1&${name}=[removed]&n=2"`,
    )
    expect(await scrubbed(`/live?${name}=s3cret`)).toBe(`/live?${name}=[removed]`)
    expect(await scrubbed(`back=%2Flive%3Fch%3D1%26${name}%3Ds3cret%26n%3D2`)).toBe(
      `back=%2Flive%3Fch%3D1%26${name}%3D[removed]%26n%3D2`,
    )
  }
  expect(await scrubbed('open /#key=s3cret, "query":"key=s3cret"')).toBe('open /#key=[removed] "query":"key=[removed]"')
  expect(await scrubbed('/live?monkey=1&keys=2&design=3, key=4')).toBe('/live?monkey=1&keys=2&design=3, key=4')
  expect(await scrubbed(`sha ${'0f'.repeat(16)} end`)).toBe('sha [removed] end')
  // A short secret goes as a word, and not out of the middle of others.
  expect(await scrubbed('a.b axb cab ab "ab"')).toBe('[removed] axb cab [removed] "[removed]"')
})

test('A private key is removed completely, even from the middle of a long text', async () => {
  const lines = 'a line of the log\n'.repeat(11_110)
  const key = `-----BEGIN PRIVATE KEY-----\n${'MHcCAQEEIa\n'.repeat(40)}-----END PRIVATE KEY-----`
  const scrubber = new Scrubber([], undefined)
  expect(await scrubber.scrub(`${lines}${key}\n${lines}`)).toBe(`${lines}[removed]\n${lines}`)
})

test('Names are removed as whole words, longest first, wherever others begin, end or overlap with them', async () => {
  const names = ['Ann', 'Ann Lee', 'Ann Lee Board', 'Lee & Co', '审查', '🦊 fox', 'x', 'Gate/3', 'Straße']
  const scrubber = new Scrubber([], names)
  const scrubbed = async (given: string): Promise<string> => await scrubber.scrub(given)
  expect(await scrubbed('Ann Lee Board, Ann Lee, Ann; Annex, Joann')).toBe('[name], [name], [name]; Annex, Joann')
  // The longest of them is part of a word here.
  expect(await scrubbed('Ann Lee Boards')).toBe('[name] Boards')
  expect(await scrubbed('Ann Lee & Co')).toBe('[name]')
  expect(await scrubbed('x 审查 再审查 🦊 fox Gate%2F3 Stra%C3%9Fe Straße')).toBe(
    'x [name] 再审查 [name] [name] [name] [name]',
  )
  expect(await scrubbed('Ann')).toBe('[name]')
  // A letter beyond the first 65,536 characters touches it.
  expect(await scrubbed('𝒜Ann Ann𝒜')).toBe('𝒜Ann Ann𝒜')
})

describe('diagnostics', () => {
  test('contain log, settings, readiness, versions, state and sizes', async () => {
    logger.info({ port: 1 }, 'a line of the log')
    const files = await saved()
    expect([...files.keys()].sort()).toEqual([
      ...['README.txt', 'about.json', 'crash-reports.json', 'files.json', 'log-file.ndjson', 'log.ndjson'],
      ...['readiness.json', 'settings.json', 'state.json'],
    ])
    const json = (name: string): unknown => JSON.parse(files.get(name) ?? '')
    expect(json('about.json')).toMatchObject({ product: 'Roomdesk', version: 'test', store: 'files' })
    expect(json('state.json')).toMatchObject({ counts: { rooms: 1, devices: 3, accounts: 1 } })
    expect(json('settings.json')).toMatchObject({ listeners: { host: '127.0.0.1' } })
    expect(json('readiness.json')).toContainEqual(
      expect.objectContaining({ check: 'disk', message: expect.any(String) }),
    )
    expect(json('files.json')).toContainEqual(
      expect.objectContaining({ path: 'console.key', bytes: expect.any(Number) }),
    )
    expect(json('crash-reports.json')).toEqual([expect.objectContaining({ path: 'completed/one.dmp', bytes: 26 })])
    expect(files.get('log.ndjson')).toContain('a line of the log')
    expect(files.get('log-file.ndjson')).toContain('an earlier process')
  })

  test('contain no secret, even if the log received every secret in unexpected places', async () => {
    for (const [kind, secret] of Object.entries({ ...secrets, ...made })) {
      // The password of an account is stored as a hash only: the log is all that can know it, by the name of its field.
      if (kind === 'sealedByOwner') logger.info({ password: secret }, `password=${secret.replaceAll(' ', '')}`)
      // Those of cameras that the site does not know stand in addresses only.
      else if (kind === 'loginInParameter')
        logger.info({ url: `/probe?url=${encodeURIComponent(`rtsp://admin:${secret}@10.0.0.9/1`)}` }, 'asked')
      else if (kind === 'signatureInParameter')
        for (const name of ['key', 'sig', 'streamkey', 'X-Amz-Signature'])
          logger.info({ url: `http://10.0.0.9/live?ch=1&${name}=${secret}` }, `asked for /live?${name}=${secret}`)
      else logger.info({ note: secret, list: [`before ${secret} after`] }, `heard ${secret}, in a text`)
    }
    for (const choice of [{}, { names: true }]) {
      const files = await saved(choice)
      for (const [name, content] of files) expect([name, heldIn(content)]).toEqual([name, []])
      expect(files.get('log.ndjson')).toContain('[removed]')
    }
  })

  test('name people and meetings only if the operator chooses so', async () => {
    logger.info({ userName: 'Somebody Else', room: '4711' }, 'participant joined')
    logger.info('asked by Małgorzata about Quarterly figures of Kowalski')
    const { room_id } = await site.call(key, 'rooms.create', { topic: 'Leave of Nowak' })
    await site.call(key, 'rooms.delete', { room_ids: [room_id] })
    logger.info('asked about Leave of Nowak')
    // The folder of a user is named after a person.
    const path = join(homedir(), 'site/seal.key')
    logger.info({ path, url: pathToFileURL(path).href }, `cannot read ${path}`)
    const all = async (choice: ProcedureInput<'diagnostics.make'>): Promise<string> =>
      [...(await saved(choice)).values()].join('\n')
    const without = await all({})
    const names = ['Somebody Else', 'Małgorzata', 'Kowalski', 'Nowak', `${homedir()}/`]
    for (const name of names) expect(without).not.toContain(name)
    expect(without).toContain('"room":"4711"')
    const kept = await all({ names: true })
    for (const name of names) expect(kept).toContain(name)
  })

  test('contain crash reports only if the operator chooses so', async () => {
    expect(await site.call(key, 'diagnostics.contents', {})).toEqual({ crash_reports: 1, crash_bytes: 26 })
    expect((await saved()).has('crash-reports/1.dmp')).toBe(false)
    const files = await saved({ crash_reports: true })
    expect(files.get('crash-reports/1.dmp')).toBe('MDMP memory of the program')
    expect(files.get('README.txt')).toContain('they hold memory of the program')
  })

  test('are bounded: the end of a long log is kept', async () => {
    for (let line = 0; line < 3_000; line += 1) logger.info({ filling: 'abcdefghij '.repeat(60) }, `line ${line}`)
    const log = (await saved()).get('log.ndjson') ?? ''
    expect(log.length).toBeLessThan(1024 * 1024 * 1.2)
    expect(log).toContain('line 2999"')
    expect(log).not.toContain('line 10"')
  })

  test('are for admins who sign in, and the event log names the admin who saved them', async () => {
    const { id } = await site.create('Olga', 'operator')
    onTestFinished(async () => {
      await site.call(key, 'accounts.delete', { id })
    })
    const operator = await site.signIn('Olga')
    expect((await site.result(operator, 'diagnostics.make', {})).status).toBe(403)
    expect((await site.result(made.token ?? '', 'diagnostics.make', {})).ok).toBe(false)
    const { name } = await site.call(`roomdesk_session=${made.cookie}`, 'diagnostics.make', {})
    const { items } = await site.call(key, 'events.list', {})
    expect(items[0]).toMatchObject({
      kind: 'site.changed',
      actor: { name: 'Małgorzata' },
      params: { procedure: 'diagnostics.make', names: 'false' },
    })
    const gone = name.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
    expect(await site.result(key, 'diagnostics.read', { name: gone, offset: 0, length: 1 })).toMatchObject({
      error: { name: 'diagnosticsGone' },
    })
  })
})
