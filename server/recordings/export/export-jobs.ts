import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Logger } from 'pino'
import { RefusalError } from '../../../shared/domain/outcome.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import { insideOf, type OwnPath } from '../../../shared/files/own-path.ts'
import { makeInside, openInside, removeInside, sizeInside } from '../../../shared/files/real-path.ts'
import type { RecordedStream } from '../../../shared/recordings/segment.ts'
import { mustNotFail } from '../../../shared/unawaited.ts'
import type { RecordingIndex } from '../recording-index.ts'
import type { SpaceBudget, SpaceClaim } from '../disk-space.ts'
import { writeArchive } from './export-archive.ts'
import {
  exportFailureOf,
  exportFileName,
  type ExportJob,
  ExportJournal,
  type ExportRequest,
  type ExportResult,
  FilesLostError,
  NothingRecordedError,
  stampOf,
} from './export-job.ts'
import type { SpanExport, WrittenExport } from './span-export.ts'
import { type ExportFailure, exportFailures } from '../../../shared/domain/recording-exports.ts'

export interface ExportJobsDependencies {
  /** Recordings folder. Its subfolder for exports is emptied at the start. */
  folder: string
  index: RecordingIndex
  span: Pick<SpanExport, 'writeFiles'>
  budget: Pick<SpaceBudget, 'claim'>
  logger: Logger
}

/** Maximum numbers of running exports and of listed exports. */
const runningAtOnce = 2
const maxJobs = 50
/** Maximum number of waiting or running exports of one account, from all addresses together. */
const maxOfAccount = 20
/** Lifetime of a result, in milliseconds. */
const keptMs = 3_600_000

/** @param failure undefined: the export was cancelled, or its result was deleted */
type EndListener = (failure?: ExportFailure) => void

interface Job {
  view: ExportJob
  claim: SpaceClaim
  stop: AbortController
  /** Reason for which the system stopped the export; undefined: not stopped, or cancelled by a user. */
  stoppedFor?: ExportFailure
  timer?: NodeJS.Timeout
  ended?: EndListener
}

/** Claim for an export that needs no space. */
const noClaim: SpaceClaim = { bytes: 0, settle: () => {}, release: () => {} }

/**
 * Exports requested in the console. A few exports run at a time and report progress; results are kept for an hour. A
 * restart deletes results and ends running exports: the next run lists these exports as failed.
 */
export class ExportJobs {
  readonly #dependencies: ExportJobsDependencies
  readonly #folder: OwnPath
  readonly #jobs = new Map<string, Job>()
  readonly #journal: ExportJournal
  readonly #begun: Promise<void>

  constructor(dependencies: ExportJobsDependencies) {
    this.#dependencies = dependencies
    this.#folder = insideOf(dependencies.folder, '.exports')
    this.#journal = new ExportJournal(dependencies.folder, dependencies.logger)
    this.#begun = this.#begin()
  }

  /** Starts an export, or queues it. @throws RefusalError if there are too many exports or the disk is too full */
  async start(request: ExportRequest, account: string): Promise<ExportJob> {
    await this.#begun
    // A zip is written beside its source files.
    const needed = 2 * this.#bytesOf(request)
    await makeInside(this.#dependencies.folder, this.#folder, 0o700)
    const claim = await this.#dependencies.budget.claim({ owner: `account ${account}`, bytes: needed })
    if (claim === undefined) throw new RefusalError(refusal('exportTooLarge'))
    this.#forgetOldest()
    const mine = [...this.#jobs.values()].filter((job) => isUnderWay(job) && job.view.account === account)
    if (this.#jobs.size >= maxJobs || mine.length >= maxOfAccount) {
      claim.release()
      throw new RefusalError(refusal('tooManyExports'))
    }
    const id = randomBytes(16).toString('base64url')
    const view = newJob(id, account, request)
    this.#jobs.set(id, { view, claim, stop: new AbortController() })
    this.#journal.began({ id, account, request })
    this.#runNext()
    return { ...view }
  }

  /**
   * Frees space for the recordings: deletes results, the oldest first, then stops running exports.
   * @param bytes needed by the recordings
   * @returns number of bytes being freed
   */
  giveWay(bytes: number): number {
    let freed = 0
    const all = [...this.#jobs.values()]
    const order = [...all.filter(({ view }) => view.state === 'done'), ...all.filter(isUnderWay).reverse()]
    for (const { view, claim } of order) {
      if (freed >= bytes) break
      freed += view.state === 'done' ? view.bytes : Math.round(claim.bytes * view.progress)
      this.#stopFor('spaceNeeded', view.id)
    }
    if (freed > 0)
      this.#dependencies.logger.warn({ bytes: freed }, 'exports were deleted: the recordings need their space')
    return freed
  }

  /** Lists the exports of one account, the newest first. @param account undefined: all accounts */
  list(account?: string): ExportJob[] {
    const all = [...this.#jobs.values()].map(({ view }) => ({ ...view }))
    return all.filter((view) => account === undefined || view.account === account).reverse()
  }

  /** Stops an export, or deletes its result. */
  cancel(id: string): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    job.stop.abort()
    this.#journal.left(id)
    if (job.view.state === 'running') return
    this.#forget(id)
    this.#runNext()
  }

  /** Stops an export, or deletes its result. A failed export stays in the list. */
  end(id: string): void {
    if (this.#jobs.get(id)?.view.state !== 'failed') this.cancel(id)
  }

  /**
   * Calls the listener when an export has failed, was cancelled, or its result was deleted; immediately if that has
   * already happened.
   */
  onEnd(id: string, listener: EndListener): void {
    const job = this.#jobs.get(id)
    if (job === undefined || !(isUnderWay(job) || job.view.state === 'done')) listener(job?.view.failure)
    else job.ended = listener
  }

  /** Returns the result of a completed export; undefined: no result exists. */
  async file(id: string): Promise<ExportResult | undefined> {
    const { view } = this.#jobs.get(id) ?? {}
    if (view?.state !== 'done') return undefined
    const { folder } = this.#dependencies
    const path = insideOf(this.#folder, id, view.name)
    // The file may have been deleted meanwhile.
    const bytes = await sizeInside(folder, path).catch(() => undefined)
    const open = (): Promise<FileHandle> => openInside(folder, path)
    return bytes === undefined
      ? undefined
      : { open, name: view.name, bytes, account: view.account, streams: view.streams }
  }

  /** Stops all exports and deletes their results. */
  async stop(): Promise<void> {
    for (const { stop, timer } of this.#jobs.values()) {
      stop.abort()
      clearTimeout(timer)
    }
    const claims = Array.from(this.#jobs.values(), ({ claim }) => claim)
    this.#jobs.clear()
    await this.#journal.written()
    await this.#remove(this.#folder)
    for (const claim of claims) claim.release()
  }

  /** Deletes the results of earlier runs, and lists their exports as ended by a restart. */
  async #begin(): Promise<void> {
    const ended = await this.#journal.takeOver()
    await this.#remove(this.#folder)
    for (const { id, account, request } of ended.slice(-maxJobs)) {
      const failure = 'restarted'
      const error = exportFailures[failure]
      const view: ExportJob = { ...newJob(id, account, request), state: 'failed', failure, error }
      const job: Job = { view, claim: noClaim, stop: new AbortController() }
      this.#jobs.set(id, job)
      this.#journal.began({ id, account, request })
      this.#expire(job)
    }
  }

  /** Deletes a file or folder. Never rejects: remaining files are deleted at the next start. */
  async #remove(path: OwnPath): Promise<void> {
    await removeInside(this.#dependencies.folder, path, { recursive: true }).catch((err: unknown) =>
      this.#dependencies.logger.warn({ err }, 'an export could not be deleted'),
    )
  }

  #runNext(): void {
    const all = [...this.#jobs.values()]
    const free = runningAtOnce - all.filter(({ view }) => view.state === 'running').length
    for (const job of all.filter(({ view }) => view.state === 'waiting').slice(0, Math.max(0, free)))
      mustNotFail(this.#run(job))
  }

  async #run(job: Job): Promise<void> {
    const { view, stop } = job
    view.state = 'running'
    try {
      const result = await this.#write(view, stop.signal)
      Object.assign(view, result, { state: 'done', progress: 1, expiresAt: Date.now() + keptMs })
      job.claim.settle(view.bytes)
      this.#expire(job)
    } catch (error) {
      const failure = stop.signal.aborted ? job.stoppedFor : exportFailureOf(error)
      if (failure !== undefined && failure !== 'nothingRecorded')
        this.#dependencies.logger.error({ err: error, export: view.id, failure }, 'an export of recordings failed')
      await this.#close(job, failure)
    }
    this.#runNext()
  }

  /** Closes an export without a result. @param failure undefined: the export was cancelled */
  async #close(job: Job, failure: ExportFailure | undefined): Promise<void> {
    const { view } = job
    Object.assign(view, { state: failure === undefined ? 'cancelled' : 'failed', name: '', bytes: 0, expiresAt: 0 })
    if (failure !== undefined) Object.assign(view, { failure, error: exportFailures[failure] })
    // An export ended by `stop` stays in the journal, so that the next run lists it.
    if (this.#jobs.has(view.id)) this.#journal.left(view.id)
    this.#expire(job)
    job.ended?.(failure)
    await this.#remove(insideOf(this.#folder, view.id))
    job.claim.release()
  }

  #expire(job: Job): void {
    clearTimeout(job.timer)
    job.timer = setTimeout(() => this.#forget(job.view.id), keptMs).unref()
  }

  /** Stops an export, or deletes its result, and lists it as failed. */
  #stopFor(failure: ExportFailure, id: string): void {
    const job = this.#jobs.get(id)
    if (job === undefined) return
    job.stoppedFor = failure
    job.stop.abort()
    if (job.view.state !== 'running') mustNotFail(this.#close(job, failure))
  }

  async #write(view: ExportJob, signal: AbortSignal): Promise<Pick<ExportJob, 'name' | 'bytes' | 'unconverted'>> {
    const folder = insideOf(this.#folder, view.id)
    await makeInside(this.#dependencies.folder, folder, 0o700)
    const files: { stream: RecordedStream; file: WrittenExport }[] = []
    const { from, to, picture, sound, format, keepGaps, streams } = view
    for (const [number, stream] of streams.entries()) {
      const base = `${exportFileName(this.#nameOf(stream))}-${stampOf(from)}`
      const pathOf = (part: number, container: string): OwnPath => {
        const more = [streams.length > 1 ? `-${number + 1}` : '', part > 0 ? `-part-${part + 1}` : ''].join('')
        return insideOf(folder, `${base}${more}.${container}`)
      }
      const progress = (done: number): void => {
        view.progress = (number + done) / streams.length
      }
      const lost = (segments: number): void => void (view.lost += segments)
      try {
        const { roomId, userId, source, quality } = stream
        const request = { roomId, userId, source, quality, from, to, picture, sound }
        const written = await this.#dependencies.span.writeFiles(request, pathOf, {
          format,
          keepGaps,
          signal,
          progress,
          lost,
        })
        files.push(...written.map((file) => ({ stream, file })))
      } catch (error) {
        // Not every user was in the room during the span.
        if (!(error instanceof NothingRecordedError) || streams.length === 1) throw error
      }
    }
    const [first, ...others] = files
    if (first === undefined)
      throw view.lost > 0
        ? new FilesLostError('the files of this span are missing or damaged')
        : new NothingRecordedError('nothing was recorded in this span')
    const unconverted = files.some(({ file }) => file.unconverted)
    if (others.length === 0) return { name: basename(first.file.path), bytes: first.file.bytes, unconverted }
    const name = `recordings-${stampOf(from)}.zip`
    const bytes = await writeArchive({
      recordings: this.#dependencies.folder,
      folder,
      name,
      files,
      view,
      index: this.#dependencies.index,
      signal,
    })
    return { name, bytes, unconverted }
  }

  #nameOf(stream: RecordedStream): string {
    const { roomId, userId, source, quality } = stream
    const [segment] = this.#dependencies.index.segments({ roomId, userId, source, quality, limit: 1 })
    const name = segment?.userName === undefined || segment.userName === '' ? userId : segment.userName
    return source === 'screen' ? `${name}-screen` : name
  }

  #bytesOf({ streams, from, to }: ExportRequest): number {
    const found = streams.flatMap(({ roomId, userId, source, quality }) =>
      this.#dependencies.index.segments({ roomId, userId, source, quality, from, to, limit: 100_000 }),
    )
    return found.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #forgetOldest(): void {
    const ended = [...this.#jobs.values()].filter((job) => !isUnderWay(job))
    for (const { view } of ended.slice(0, Math.max(0, this.#jobs.size - maxJobs + 1))) this.#forget(view.id)
  }

  #forget(id: string): void {
    const job = this.#jobs.get(id)
    if (job === undefined || job.view.state === 'running') return
    clearTimeout(job.timer)
    this.#jobs.delete(id)
    this.#journal.left(id)
    job.ended?.()
    mustNotFail(this.#remove(insideOf(this.#folder, id)).finally(() => job.claim.release()))
  }
}

function isUnderWay({ view: { state } }: Job): boolean {
  return state === 'waiting' || state === 'running'
}

function newJob(id: string, account: string, request: ExportRequest): ExportJob {
  return {
    ...request,
    ...{ id, account, state: 'waiting', progress: 0, name: '', bytes: 0 },
    ...{ unconverted: false, lost: 0, error: '', expiresAt: 0 },
  }
}
