import { crc32 } from 'node:zlib'
import type { SentKeyPicture } from '../../../shared/media/stream-stats.ts'
import type { Settings } from '../../../shared/settings.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { Store } from '../../store/store.ts'
import type { OutgoingUsers } from '../outgoing-users.ts'
import { type PictureFile, PictureFolder } from './picture-folder.ts'

export interface PictureRoundsOptions {
  dataFolder: string
  store: Pick<Store, 'all' | 'get' | 'onChange'>
  settings: () => Pick<Settings, 'pictures'>
  outgoing: Pick<OutgoingUsers, 'views' | 'view'>
  /**
   * Returns the newest keyframe of a camera in its room; undefined: none. Rejects if the camera's node does not
   * respond.
   */
  take: (roomId: string, userId: string) => Promise<SentKeyPicture | undefined>
  logger: { warn(fields: object, message: string): void }
}

const minuteMs = 60_000
/** Maximum number of pictures taken at the same time. */
const maxAtOnce = 4
/**
 * Interval between two searches for due cameras, in milliseconds. It is short so that a joining camera soon has a
 * picture.
 */
const roundMs = 10_000
/** Minimum and maximum pause between the pictures of two cameras, in milliseconds. */
const pauseMs = { least: 20, most: 1_000 } as const
const hourMs = 60 * minuteMs

/**
 * Takes a picture of each joined camera once per interval. Each camera has its own phase within the interval, so that
 * thousands of cameras cause no burst. Few requests run at the same time, so a slow node delays pictures without
 * accumulating requests. Takes no pictures of people.
 */
export class PictureRounds {
  readonly #folder: PictureFolder
  readonly #options: PictureRoundsOptions
  readonly #underWay = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined
  /** Cameras remaining in this round. */
  #left: string[] = []
  #roundAt = 0
  #pauseMs: number = pauseMs.most
  #clearedAt = 0
  #refused = false
  #stopFollowing = (): void => {}
  #stopped = false

  constructor(options: PictureRoundsOptions) {
    this.#options = options
    this.#folder = new PictureFolder(options.dataFolder)
  }

  /** Reads the folder and starts the rounds. Never rejects. */
  async start(): Promise<void> {
    const { store } = this.#options
    const trashed = this.#trashed()
    try {
      await this.#folder.open((userId) => store.get('devices', userId) !== undefined || trashed.has(userId))
    } catch (error) {
      this.#refuse(error)
    }
    this.#stopFollowing = store.onChange(
      (changes) => {
        // A deleted camera is first moved to the trash, from which it may be restored.
        if (changes.some(({ collection, value }) => collection === 'trash' && value === undefined))
          mustNotFail(this.#forget())
        for (const { collection, key, value } of changes)
          if (collection === 'devices' && value === undefined) mustNotFail(this.#forget(key))
      },
      ['trash', 'devices'],
    )
    if (!this.#stopped) this.#next(pauseMs.most)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#stopFollowing()
    await Promise.all(this.#underWay)
  }

  /** Returns the pictures of a camera, newest first, without pictures of an earlier camera with the same id. */
  of(userId: string): readonly PictureFile[] {
    const since = this.#options.store.get('devices', userId)?.created_at ?? Number.POSITIVE_INFINITY
    return this.#folder.of(userId).filter(({ at }) => at >= since)
  }

  /**
   * Reads the newest stored picture, or the picture taken `at`; undefined: none.
   * @throws errors of the file system
   */
  async read(userId: string, at?: number): Promise<SentKeyPicture | undefined> {
    const wanted = this.of(userId).find((picture) => at === undefined || picture.at === at)
    const read = wanted && (await this.#folder.read(userId, wanted.at))
    if (read === undefined) return undefined
    const { width, height, at: takenAt } = read.picture
    return { width, height, at: takenAt, frame: read.frame.toString('base64') }
  }

  #next(milliseconds: number): void {
    this.#timer = setTimeout(() => this.#step(), milliseconds).unref()
  }

  #step(): void {
    const { every_minutes: every } = this.#options.settings().pictures
    const now = Date.now()
    if (now - this.#clearedAt > hourMs) this.#track(this.#clear(now))
    if (every === 0) {
      this.#left = []
      this.#roundAt = 0
      return this.#next(pauseMs.most)
    }
    if (this.#left.length === 0 && now >= this.#roundAt) this.#beginRound(now, every * minuteMs)
    const userId = this.#underWay.size < maxAtOnce ? this.#left.pop() : undefined
    if (userId !== undefined) this.#track(this.#take(userId))
    this.#next(this.#left.length === 0 ? pauseMs.most : this.#pauseMs)
  }

  #beginRound(now: number, everyMs: number): void {
    const devices = this.#options.outgoing.views()
    this.#left = devices.map(({ userId }) => userId).filter((userId) => this.#isDue(userId, now, everyMs))
    this.#roundAt = now + roundMs
    this.#pauseMs = Math.min(Math.max(roundMs / (this.#left.length + 1), pauseMs.least), pauseMs.most)
  }

  /** Whether the camera has no picture from its current interval. */
  #isDue(userId: string, now: number, everyMs: number): boolean {
    const newest = this.of(userId)[0]?.at
    const phase = crc32(userId) % everyMs
    return newest === undefined || Math.floor((now + phase) / everyMs) > Math.floor((newest + phase) / everyMs)
  }

  async #take(userId: string): Promise<void> {
    const { outgoing, take, settings } = this.#options
    const device = outgoing.view(userId)
    if (device?.state !== 'joined') return
    // A failure is ignored: the next round retries, and the state of the camera shows the problem.
    const picture = await take(device.roomId, userId).catch(() => undefined)
    if (picture === undefined || outgoing.view(userId) === undefined) return
    const { per_camera: count, megabytes, days } = settings().pictures
    try {
      const { frame, ...size } = picture
      await this.#folder.add(userId, Buffer.from(frame, 'base64'), size, { count, megabytes, days })
      this.#refused = false
    } catch (error) {
      this.#refuse(error)
    }
  }

  async #clear(now: number): Promise<void> {
    this.#clearedAt = now
    const { per_camera: count, megabytes, days } = this.#options.settings().pictures
    await this.#folder.clear({ count, megabytes, days }, now).catch((error: unknown) => this.#refuse(error))
  }

  /** Deletes the pictures of permanently deleted cameras. @param userId restricts this to one camera; undefined: all */
  async #forget(userId?: string): Promise<void> {
    const trashed = this.#trashed()
    const gone = (userId === undefined ? this.#folder.cameras() : [userId]).filter(
      (one) => this.#options.store.get('devices', one) === undefined && !trashed.has(one),
    )
    for (const one of gone) await this.#folder.remove(one).catch((error: unknown) => this.#refuse(error))
  }

  /** Returns the userIds of the devices in the trash, including those of rooms in the trash. */
  #trashed(): ReadonlySet<string> {
    const found = new Set<string>()
    for (const trashed of this.#options.store.all('trash').values()) {
      if (trashed.kind === 'devices') found.add(trashed.record.userId)
      if (trashed.kind === 'rooms') for (const { userId } of trashed.devices) found.add(userId)
    }
    return found
  }

  #track(job: Promise<void>): void {
    this.#underWay.add(job)
    mustNotFail(job.finally(() => this.#underWay.delete(job)))
  }

  #refuse(error: unknown): void {
    if (!this.#refused) this.#options.logger.warn({ err: error }, 'pictures of cameras cannot be kept')
    this.#refused = true
  }
}
