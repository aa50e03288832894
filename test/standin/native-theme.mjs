import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

let onChange = () => {}

class NativeTheme extends EventEmitter {
  _source = 'system'
  get themeSource() {
    return this._source
  }
  set themeSource(source) {
    this._source = source
    onChange()
    this.emit('updated')
  }
  get shouldUseDarkColors() {
    return this._source === 'dark'
  }
}

export const nativeTheme = strict('nativeTheme', new NativeTheme())

/** @param {() => void} listener */
export function onThemeChange(listener) {
  onChange = listener
}
