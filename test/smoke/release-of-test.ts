import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPackageWithOptions, extractAll, uncache } from '@electron/asar'
import { publisherKeysFile } from '../../main/updates/publisher-keys.ts'
import { UpdatePublisher } from '../support/update-publisher.ts'
import { buildInstaller } from './packed.ts'

/** Publishes versions of one packed app, signed with a key that is made for it alone. */
export class TestRelease {
  readonly #publisher = new UpdatePublisher()
  /** Folder of the packed app, as electron-builder unpacks it for Linux. */
  readonly #packed: string
  readonly #work: string

  constructor(packed: string, work: string) {
    this.#packed = packed
    this.#work = work
  }

  /**
   * Makes a version of the app that takes updates of this publisher: the archive is taken apart and put together again with another key.
   * Only Linux starts such an app: Windows and macOS compare the archive with the hash in the executable.
   * @returns its folder
   */
  async pack(version: string): Promise<string> {
    const folder = join(this.#work, `app-${version}`)
    await cp(this.#packed, folder, { recursive: true, verbatimSymlinks: true })
    const [resources, files] = [join(folder, 'resources'), join(this.#work, `files-${version}`)]
    const archive = join(resources, 'app.asar')
    extractAll(archive, files)
    await mkdir(join(files, 'packaging'), { recursive: true })
    await writeFile(join(files, publisherKeysFile), this.#publisher.publicPem)
    // No two versions have the same bytes.
    await writeFile(join(files, 'version-of-test'), version)
    for (const old of ['app.asar', 'app.asar.unpacked']) await rm(join(resources, old), { recursive: true })
    // The list of its files is kept by its path.
    uncache(archive)
    await createPackageWithOptions(files, archive, { unpack: '**/*.node' })
    await rm(files, { recursive: true })
    return folder
  }

  /**
   * Makes an AppImage of a version, with the description of its release, signed.
   * @returns folder of the release, and the AppImage in it
   */
  async appImage(version: string): Promise<{ folder: string; file: string }> {
    const packed = await this.pack(version)
    const folder = join(this.#work, `release-${version}`)
    const targets = ['--linux', 'AppImage', `--${process.arch}`, '--prepackaged', packed]
    const versioned = [...targets, `-c.extraMetadata.version=${version}`]
    const file = await buildInstaller(versioned, undefined, folder, /\.AppImage$/)
    for (const name of await readdir(folder))
      if (/^latest.*\.yml$/.test(name))
        await writeFile(join(folder, `${name}.sig`), this.#publisher.sign(await readFile(join(folder, name))))
    return { folder, file }
  }
}
