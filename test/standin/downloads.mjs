// Downloads: `will-download` first, then a Save dialog if the app set no path. Without a user that dialog is cancelled.
import { EventEmitter } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ignoreDisconnected } from './chromium.mjs'
import { state } from './state.mjs'
import { strict } from './strict.mjs'

class Item extends EventEmitter {
  constructor({ guid, url, suggestedFilename }, folder) {
    super()
    Object.assign(this, { _guid: guid, _url: url, _name: suggestedFilename, _folder: folder, _state: 'progressing' })
    this._path = ''
    this._received = 0
    return strict('DownloadItem', this)
  }
  getFilename() {
    return this._name
  }
  getURL() {
    return this._url
  }
  getState() {
    return this._state
  }
  getReceivedBytes() {
    return this._received
  }
  setSavePath(path) {
    this._path = path
  }
  getSavePath() {
    return this._path
  }
  setSaveDialogOptions(options) {
    this._dialog = options
  }
  cancel() {
    if (this._state !== 'progressing') return
    void state.browser.send('Browser.cancelDownload', { guid: this._guid }).catch(ignoreDisconnected)
    this._end('cancelled')
  }
  _end(how) {
    if (this._state !== 'progressing') return
    this._state = how
    this.emit('done', {}, how)
  }
}

let folder
const underWay = new Map()

/** Lets Chromium store downloads in a folder of the stand-in until their path is set. */
export async function allowDownloads() {
  folder = mkdtempSync(join(tmpdir(), 'roomdesk-standin-downloads-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const settings = { behavior: 'allowAndName', downloadPath: folder, eventsEnabled: true }
  await state.browser.send('Browser.setDownloadBehavior', settings)
}

/** Handles Chromium's events of a download. @param {import('node:events').EventEmitter} session @param {(frame: string) => object} contentsOf */
export function followDownload(method, params, session, contentsOf) {
  if (method === 'Browser.downloadWillBegin') return begin(params, session, contentsOf(params.frameId))
  const item = underWay.get(params.guid)
  if (method !== 'Browser.downloadProgress' || !item) return
  item._received = params.receivedBytes
  if (params.state === 'inProgress') return
  underWay.delete(params.guid)
  if (params.state === 'canceled') return item._end('cancelled')
  const from = params.filePath ?? join(folder, params.guid)
  if (item._state === 'progressing' && item._path !== '') {
    mkdirSync(dirname(item._path), { recursive: true })
    copyFileSync(from, item._path)
  }
  rmSync(from, { force: true })
  item._end('completed')
}

function begin(params, session, contents) {
  const item = new Item(params, folder)
  let isPrevented = false
  underWay.set(params.guid, item)
  session.emit(
    'will-download',
    { preventDefault: () => (isPrevented = true) },
    item,
    contents ?? null,
    contents?.mainFrame ?? null,
  )
  if (isPrevented) return item.cancel()
  if (item._path !== '' || item._state !== 'progressing') return
  console.error(`stand-in: nobody answers the Save dialog: ${item._dialog?.defaultPath ?? item._name}`)
  setImmediate(() => item.cancel())
}
