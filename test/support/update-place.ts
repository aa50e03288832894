import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished, vi } from 'vitest'
import { PreferencesFile } from '../../main/preferences.ts'
import { Updates, type UpdatesOptions } from '../../main/updates/updates.ts'
import { UpdatePublisher } from './update-publisher.ts'

const logger = pino({ level: 'silent' })

/** Content and name of the installer that is offered. */
export const newApp = Buffer.from(`#!/bin/sh\necho new\n${'#'.repeat(200_000)}`)
export const installerFile = 'Roomdesk-0.3.0-x86_64.AppImage'

/** Makes the description of a release. */
export const description = (
  version = '0.3.0',
  content: Uint8Array = newApp,
  name = installerFile,
): string => `version: ${version}
files:
  - url: ${name}
    sha512: ${createHash('sha512').update(content).digest('base64')}
    size: ${content.length}
path: ${name}
releaseDate: '2026-11-26T00:00:00.000Z'
releaseNotes: |
  Faster walls.
`

/** Answer of the site's web server by path; undefined: no such file. */
export type Answer = string | Uint8Array | ((response: ServerResponse) => void) | undefined

/** Lets minutes pass, on the clock of the test. */
export const minutes = (n: number): Promise<unknown> => vi.advanceTimersByTimeAsync(n * 60_000)

/** Web server and folder of a site's updates, and an AppImage that takes them. */
export class UpdatePlace {
  readonly publisher = new UpdatePublisher()
  /** Folder of everything. */
  work = ''
  /** Folder of releases. */
  release = ''
  appImage = ''
  /** Address of the web server. */
  address = ''
  answers: Record<string, Answer> = {}
  /** Paths of the requests. */
  asked: string[] = []
  restarts = 0
  occupied: boolean | undefined = false
  /** Warnings of people in rooms: in how many milliseconds, or that it is called off. */
  warnings: (number | 'called off')[] = []

  /** Begins anew, with a release on the web server, until the end of the test. */
  async open(): Promise<void> {
    this.work = await mkdtemp(join(tmpdir(), 'roomdesk-updates-'))
    this.release = join(this.work, 'release')
    this.appImage = join(this.work, 'apps/Roomdesk.AppImage')
    await mkdir(this.release)
    await mkdir(join(this.work, 'apps'))
    await writeFile(this.appImage, '#!/bin/sh\necho old\n')
    await chmod(this.appImage, 0o755)
    this.answers = { '/updates/latest-linux.yml': description(), [`/updates/${installerFile}`]: newApp }
    Object.assign(this, { asked: [], restarts: 0, occupied: false, warnings: [] })
    const server = createServer(({ url = '' }, response) => {
      this.asked.push(url)
      const answer = this.#answerTo(url)
      if (typeof answer === 'function') answer(response)
      else if (answer === undefined) response.writeHead(404).end()
      else response.end(answer)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      server.close()
      // Preferences may still be written.
      await rm(this.work, { recursive: true, force: true, maxRetries: 5 })
    })
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/updates`
  }

  /** The publisher signed every description that has no other signature. */
  #answerTo(url: string): Answer {
    if (url in this.answers || !url.endsWith('.sig')) return this.answers[url]
    const text = this.answers[url.slice(0, -'.sig'.length)]
    return typeof text === 'string' ? this.publisher.sign(text) : undefined
  }

  /** Puts a signed description into the folder of releases. */
  async putDescription(text = description()): Promise<void> {
    await writeFile(join(this.release, 'latest-linux.yml'), text)
    await writeFile(join(this.release, 'latest-linux.yml.sig'), this.publisher.sign(text))
  }

  /** Starts the updates of the app. */
  start(change: Partial<UpdatesOptions> = {}): Updates {
    return new Updates({
      preferences: new PreferencesFile(join(this.work, 'window.json'), logger),
      logger,
      folder: join(this.work, 'updates'),
      version: '0.2.0',
      keys: [this.publisher.publicKey],
      machine: {
        platform: 'linux',
        arch: 'x64',
        isPackaged: true,
        program: '/nowhere',
        appImage: this.appImage,
        isManagedPackage: async () => false,
        asksAdministrator: async () => false,
      },
      open: async () => '',
      isOccupied: () => this.occupied,
      warnPeople: async (inMs) => void this.warnings.push(inMs ?? 'called off'),
      restart: () => (this.restarts += 1),
      isEnding: () => false,
      onChange: () => undefined,
      ...change,
    })
  }

  /** Starts the updates of an app whose operator named a place, and checks it. */
  async checked(source = this.address, change: Partial<UpdatesOptions> = {}): Promise<Updates> {
    const updates = this.start(change)
    updates.set({ source, install: 'ask', hour: null })
    await updates.check()
    return updates
  }

  /** Names of the fetched files. */
  left(): Promise<string[]> {
    return readdir(join(this.work, 'updates'))
  }

  /** Content of the installed AppImage. */
  installed(): Promise<string> {
    return readFile(this.appImage, 'utf8')
  }
}
