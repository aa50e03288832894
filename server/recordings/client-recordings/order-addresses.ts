import { ApiError } from '../../../shared/result-codes.ts'
import { refusal } from '../../../shared/refusals/refusal.ts'
import type { Settings } from '../../../shared/settings.ts'
import type { StoredRecording } from '../../store/records.ts'
import type { RecordFiles } from './record-files.ts'

/** Addresses of a live stream. */
export interface LiveAddresses {
  /** Page to watch it. */
  page_url: string
  /** HLS playlist. */
  hls_url: string
}

/** Addresses of files and live streams on the media port, as people outside reach it. */
export class OrderAddresses {
  readonly #files: RecordFiles
  readonly #settings: () => Settings
  readonly #mediaUrl: () => string

  /** @param mediaUrl address of the media API unless the settings name another; empty while it does not listen */
  constructor(files: RecordFiles, settings: () => Settings, mediaUrl: () => string) {
    this.#files = files
    this.#settings = settings
    this.#mediaUrl = mediaUrl
  }

  /** Address of a file, complete or not; empty: its capability has ended. @throws ApiError internal while the media API does not listen */
  file(recording: StoredRecording, index: number): string {
    const path = this.#files.address(recording, index)
    return path === '' ? '' : this.#base() + path
  }

  /** @throws ApiError internal while the media API does not listen */
  live(token: string): LiveAddresses {
    const page_url = `${this.#base()}/live/${token}`
    return { page_url, hls_url: `${page_url}/index.m3u8` }
  }

  /** Playlist of a recorded span. @throws ApiError internal while the media API does not listen */
  recorded(token: string): string {
    return `${this.#base()}/recorded/${token}/index.m3u8`
  }

  #base(): string {
    const base = this.#settings().media.public_url || this.#mediaUrl()
    if (base === '') throw new ApiError('internal', { refusal: refusal('mediaApiOff') })
    return base
  }
}
