import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type TestContext, expect, onTestFinished } from 'vitest'
import { readTraffic } from '../../../server/lab/traffic/format.ts'
import type { MediaSite } from '../sites/media-site.ts'
import { installClientKit } from './client-kit.ts'

const page = join(import.meta.dirname, '../../../docs/integrate/languages.md')
/** Compilers take their time on a busy machine. */
const timeout = 110_000

/** A program of `docs/integrate/languages.md`. */
interface DocumentedClient {
  /** Name of its file in the page. */
  file: string
  /** Command that shows whether the language is installed. */
  probe: readonly string[]
  /** Debian packages, for a language that is missing. */
  packages: string
  /** Commands that compile and run the file. */
  commands: readonly (readonly string[])[]
}

const node: DocumentedClient = {
  file: 'client.mjs',
  probe: [process.execPath, '--version'],
  packages: 'nodejs',
  commands: [[process.execPath, 'client.mjs']],
}
const monoLibraries = 'System.Net.Http,System.Runtime.Serialization,System.Xml,System.Xml.Linq'

/** Programs by the heading of their section. */
const clients = {
  'Client kit': node,
  JavaScript: node,
  Python: {
    file: 'client.py',
    probe: ['python3', '--version'],
    packages: 'python3',
    commands: [['python3', 'client.py']],
  },
  Java: {
    file: 'Client.java',
    probe: ['javac', '-version'],
    packages: 'default-jdk-headless',
    commands: [['java', 'Client.java']],
  },
  'C#': {
    file: 'Client.cs',
    probe: ['mcs', '--version'],
    packages:
      'mono-mcs libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil libmono-system-xml-linq4.0-cil',
    commands: [
      ['mcs', '-langversion:latest', `-r:${monoLibraries}`, 'Client.cs'],
      ['mono', 'Client.exe'],
    ],
  },
  Go: { file: 'client.go', probe: ['go', 'version'], packages: 'golang-go', commands: [['go', 'run', 'client.go']] },
  PHP: { file: 'client.php', probe: ['php', '--version'], packages: 'php-cli', commands: [['php', 'client.php']] },
} as const satisfies Record<string, DocumentedClient>

export type DocumentedLanguage = keyof typeof clients
export const documentedLanguages = Object.keys(clients).filter((name): name is DocumentedLanguage => name in clients)

/** Credential of the programs. */
export const documentedCredential = { label: 'Docs', access_key: 'docs', secret_key: 'a secret' }

/** Runs the program of a language unchanged, and checks what it did on the site. Skips a language that is missing. */
export async function runDocumentedClient(
  language: DocumentedLanguage,
  site: MediaSite,
  { skip }: Pick<TestContext, 'skip'>,
): Promise<void> {
  const { file, probe, packages, commands }: DocumentedClient = clients[language]
  const [program = '', ...flags] = probe
  if (spawnSync(program, flags, { stdio: 'ignore' }).status !== 0)
    skip(`${language} is missing: apt-get install ${packages}`)
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-client-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, file), await programOf(language))
  if (language === 'Client kit') await installClientKit(folder)
  await mkdir(join(folder, 'home'))
  const env = {
    PATH: process.env.PATH,
    // Go builds into a cache there.
    HOME: join(folder, 'home'),
    GO111MODULE: 'off',
    MEDIA: site.api.media,
    DEVICE: site.api.device,
    ACCESS_KEY: documentedCredential.access_key,
    SECRET_KEY: documentedCredential.secret_key,
  }
  await site.rpc('lab.record_traffic', { running: true })
  let stdout = ''
  for (const [command = '', ...parameters] of commands)
    ({ stdout } = await promisify(execFile)(command, parameters, { cwd: folder, env, timeout }))
  await site.rpc('lab.record_traffic', { running: false })
  const { text } = await site.rpc('lab.traffic_file', {})
  const calls = readTraffic(text).map(({ operation, ret, params }) => ({ operation, ret, topic: params.topic }))
  expect(stdout).toMatch(/^room \d{9}: 0 users\r?\n$/)
  expect(calls.slice(0, 4)).toEqual([
    { operation: 'authenticate', ret: 0 },
    { operation: 'create_room', ret: 0, topic: 'Morning & 晨会' },
    { operation: 'list_users', ret: 0 },
    { operation: 'delete_room', ret: 0 },
  ])
}

/** Reads the last program of a section, without its command lines. */
async function programOf(language: string): Promise<string> {
  const sections = (await readFile(page, 'utf8')).split(/^## /m)
  const section = sections.find((text) => text.startsWith(`${language}\n`)) ?? ''
  return /(?<=```(?!sh)\w+\n)[\s\S]*?(?=```)/.exec(section)?.[0] ?? ''
}
