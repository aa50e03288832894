import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { StoredRecording } from '../../store/recording-records.ts'
import type { RecordFiles } from './record-files.ts'

export interface LiveAddresses {
  /** Page that plays the stream. */
  page_url: string
  hls_url: string
}

/** Builds the external addresses of files and live streams on the media port. */
export class OrderAddresses {
  readonly #files: RecordFiles
  readonly #settings: () => Settings
  readonly #mediaUrl: () => string

  /** @param mediaUrl address of the media API if the settings contain none; empty while the port is closed */
  constructor(files: RecordFiles, settings: () => Settings, mediaUrl: () => string) {
    this.#files = files
    this.#settings = settings
    this.#mediaUrl = mediaUrl
  }

  /**
   * Returns the address of a file, complete or not; empty if its capability has ended.
   * @throws ApiError internal while the media API is off
   */
  file(recording: StoredRecording, index: number): string {
    const path = this.#files.address(recording, index)
    return path === '' ? '' : this.#base() + path
  }

  /** @throws ApiError internal while the media API is off */
  live(token: string): LiveAddresses {
    const page_url = `${this.#base()}/live/${token}`
    return { page_url, hls_url: `${page_url}/index.m3u8` }
  }

  /** Returns the address of the playlist of a recorded span. @throws ApiError internal while the media API is off */
  recorded(token: string): string {
    return `${this.#base()}/recorded/${token}/index.m3u8`
  }

  #base(): string {
    const base = this.#settings().media.public_url || this.#mediaUrl()
    if (base === '') throw new ApiError('internal', { refusal: refusal('mediaApiOff') })
    return base
  }
}
