import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { listFolder } from '../../store/files/durable-files.ts'
import { renameFile } from '../../store/system/rename-file.ts'

export interface PictureFile {
  /** Time at which the picture was taken, in milliseconds since the epoch. */
  at: number
  width: number
  height: number
  bytes: number
}

export interface PictureBounds {
  /** Maximum number of pictures per camera. */
  count: number
  megabytes: number
  days: number
}

/** Subfolder of the data folder. */
const folderName = 'pictures'
const dayMs = 24 * 60 * 60_000
const namePattern = /^(\d{1,15})-(\d{1,5})x(\d{1,5})-(\d{1,8})\.h264$/

/**
 * Pictures of cameras on the disk, in one folder per camera. Their number, size and age are limited: the oldest are
 * deleted first. The name of a file contains its time, dimensions and size, so only names are read at the start. Files
 * are not synced: a power failure may lose the newest picture.
 */
export class PictureFolder {
  readonly #folder: string
  /** Pictures by camera, oldest first. */
  readonly #cameras = new Map<string, PictureFile[]>()
  /** Camera of each picture. The keys are sorted by time, oldest first: new pictures are appended. */
  readonly #order = new Map<PictureFile, string>()
  #bytes = 0

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, folderName)
  }

  /** Reads the names of the pictures and deletes those of unknown cameras. @throws errors of the file system */
  async open(isKnown: (userId: string) => boolean): Promise<void> {
    const found: { userId: string; picture: PictureFile }[] = []
    for (const name of await listFolder(this.#folder)) {
      const userId = Buffer.from(name, 'base64url').toString('utf8')
      if (!isKnown(userId)) {
        await rm(insideOf(this.#folder, name), { recursive: true, force: true })
        continue
      }
      for (const file of await listFolder(insideOf(this.#folder, name))) {
        const picture = pictureOf(file)
        // An interrupted write left this file.
        if (picture === undefined) await rm(insideOf(this.#folder, name, file), { force: true })
        else found.push({ userId, picture })
      }
    }
    for (const { userId, picture } of found.sort((one, other) => one.picture.at - other.picture.at))
      this.#note(userId, picture)
  }

  /** Returns the pictures of a camera, newest first. */
  of(userId: string): readonly PictureFile[] {
    return (this.#cameras.get(userId) ?? []).toReversed()
  }

  /** Total size of all pictures, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Stores a picture, and deletes pictures beyond the limits.
   * @returns false if the picture was already stored
   * @throws errors of the file system
   */
  async add(userId: string, frame: Buffer, size: Omit<PictureFile, 'bytes'>, bounds: PictureBounds): Promise<boolean> {
    const picture = { ...size, at: Math.round(size.at), bytes: frame.length }
    if (this.#cameras.get(userId)?.some(({ at }) => at === picture.at) === true) return false
    const path = this.#path(userId, picture)
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 })
    await writeFile(`${path}.tmp`, frame, { mode: 0o600 })
    await renameFile(`${path}.tmp`, path)
    this.#note(userId, picture)
    await this.clear(bounds, Date.now(), userId)
    return true
  }

  /** Reads a picture; undefined: it does not exist. @throws errors of the file system */
  async read(userId: string, at: number): Promise<{ picture: PictureFile; frame: Buffer } | undefined> {
    const picture = this.#cameras.get(userId)?.find((one) => one.at === at)
    if (picture === undefined) return undefined
    try {
      return { picture, frame: await readFile(this.#path(userId, picture)) }
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      this.#forget(userId, picture)
      return undefined
    }
  }

  /** Deletes pictures beyond the limits, in total and of the given camera. @throws errors of the file system */
  async clear({ count, megabytes, days }: PictureBounds, now: number, userId?: string): Promise<void> {
    const own = userId === undefined ? [] : (this.#cameras.get(userId) ?? [])
    for (const picture of own.slice(0, Math.max(0, own.length - count))) await this.#delete(userId ?? '', picture)
    for (const [picture, camera] of this.#order) {
      if (now - picture.at <= days * dayMs && this.#bytes <= megabytes * 1_000_000) return
      await this.#delete(camera, picture)
    }
  }

  /** Deletes all pictures of a camera. @throws errors of the file system */
  async remove(userId: string): Promise<void> {
    for (const picture of [...(this.#cameras.get(userId) ?? [])]) this.#forget(userId, picture)
    await rm(this.#folderOf(userId), { recursive: true, force: true })
  }

  /** Returns the userIds of the cameras with pictures. */
  cameras(): string[] {
    return [...this.#cameras.keys()]
  }

  async #delete(userId: string, picture: PictureFile): Promise<void> {
    this.#forget(userId, picture)
    await rm(this.#path(userId, picture), { force: true })
  }

  #note(userId: string, picture: PictureFile): void {
    const own = this.#cameras.get(userId)
    if (own === undefined) this.#cameras.set(userId, [picture])
    else own.push(picture)
    this.#order.set(picture, userId)
    this.#bytes += picture.bytes
  }

  #forget(userId: string, picture: PictureFile): void {
    if (!this.#order.delete(picture)) return
    this.#bytes -= picture.bytes
    const rest = (this.#cameras.get(userId) ?? []).filter((one) => one !== picture)
    if (rest.length === 0) this.#cameras.delete(userId)
    else this.#cameras.set(userId, rest)
  }

  #folderOf(userId: string): string {
    return insideOf(this.#folder, Buffer.from(userId, 'utf8').toString('base64url'))
  }

  #path(userId: string, { at, width, height, bytes }: PictureFile): string {
    return insideOf(this.#folderOf(userId), `${at}-${width}x${height}-${bytes}.h264`)
  }
}

function pictureOf(file: string): PictureFile | undefined {
  const [, at, width, height, bytes] = namePattern.exec(file) ?? []
  if (bytes === undefined) return undefined
  return { at: Number(at), width: Number(width), height: Number(height), bytes: Number(bytes) }
}
