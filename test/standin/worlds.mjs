// The renderer half. Both functions are injected as source before any script of the page, in two JavaScript worlds, as
// Electron's context isolation does. A synchronous DOM event with a cloned detail connects them, under a secret
// name. They import nothing.

/** The page's own world: receives the objects that the preload exposes. @param {string} secret */
export function mainWorld(secret) {
  if (window !== window.top) return
  // Saved now: the page may replace them later.
  const { addEventListener, dispatchEvent, CustomEvent, Promise, Map, Error, Object, Array, structuredClone } = window
  const callbacks = new Map()
  const promises = new Map()
  let last = 0
  let answer

  const isPlain = (value) => value && Object.getPrototypeOf(value) === Object.prototype
  const fields = (value, change) => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]))
  const post = (detail) =>
    dispatchEvent.call(window, new CustomEvent(`${secret}:isolated`, { detail: structuredClone(detail) }))
  const out = (value) => {
    if (typeof value === 'function') {
      callbacks.set(++last, value)
      return { $function: last }
    }
    if (Array.isArray(value)) return value.map(out)
    return isPlain(value) ? fields(value, out) : value
  }
  const into = (value) => {
    if (Array.isArray(value)) return value.map(into)
    if (!isPlain(value)) return value
    if ('$function' in value) return (...values) => call(value.$function, values)
    if ('$promise' in value) return new Promise((resolve, reject) => promises.set(value.$promise, { resolve, reject }))
    if ('$error' in value) return new Error(value.$error)
    return fields(value, into)
  }
  const holdsFunction = (value) =>
    typeof value === 'function' ||
    (value !== null && typeof value === 'object' && Object.values(value).some(holdsFunction))
  const call = (id, values) => {
    for (const value of values) {
      if (holdsFunction(value)) continue
      try {
        // The bridge passes a Proxy (a Vue reactive) to V8's serializer, which refuses it.
        structuredClone(value)
      } catch {
        throw new Error('An object could not be cloned.')
      }
    }
    answer = undefined
    post({ kind: 'call', id, values: out(values) })
    const { error, value } = answer ?? {}
    if (error !== undefined) throw into(error)
    return into(value)
  }
  // The main process decides about a second window, and refuses: nothing opens meanwhile.
  const open = (url = '', frameName = '') => {
    post({ kind: 'open', url: new URL(url, location.href).href, frameName })
    return null
  }
  window.open = (url, frameName) => open(String(url ?? 'about:blank'), frameName)
  addEventListener.call(window, 'click', (event) => {
    const link = event.composedPath().find((element) => element instanceof HTMLAnchorElement)
    if (link?.target !== '_blank' || event.defaultPrevented) return
    event.preventDefault()
    open(link.href)
  })
  const freeze = (value) => {
    if (typeof value !== 'object' || value === null) return value
    for (const item of Object.values(value)) freeze(item)
    return Object.freeze(value)
  }
  addEventListener.call(window, `${secret}:main`, ({ detail }) => {
    if (detail.kind === 'answer') answer = detail
    if (detail.kind === 'callback') callbacks.get(detail.id)?.(...into(detail.values))
    if (detail.kind === 'settle') {
      promises.get(detail.id)?.[detail.ok ? 'resolve' : 'reject'](into(detail.value))
      promises.delete(detail.id)
    }
    if (detail.kind === 'expose') {
      const property = { value: freeze(into(detail.api)), enumerable: true, configurable: false, writable: false }
      Object.defineProperty(window, detail.key, property)
    }
  })
}

/** The preload's world. @param {string} secret @param {Function} codec @param {string} platform @param {Function} preload its source as a CommonJS function */
export function isolatedWorld(secret, codec, platform, preload) {
  if (window !== window.top) return
  const { encode, decode } = codec()
  const toMainProcess = globalThis.__standinWire
  const functions = new Map()
  const waiting = new Map()
  const channels = new Map()
  let last = 0

  const isPlain = (value) => value && [Object.prototype, null].includes(Object.getPrototypeOf(value))
  const fields = (value, change) => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]))
  const post = (detail) => window.dispatchEvent(new CustomEvent(`${secret}:main`, { detail: structuredClone(detail) }))
  const out = (value) => {
    if (typeof value === 'function') {
      functions.set(++last, value)
      return { $function: last }
    }
    if (value instanceof Promise) {
      const id = ++last
      value.then(
        (result) => post({ kind: 'settle', id, ok: true, value: out(result) }),
        (error) => post({ kind: 'settle', id, ok: false, value: out(error) }),
      )
      return { $promise: id }
    }
    // The bridge keeps only an error's message.
    if (value instanceof Error) return { $error: value.message }
    if (Array.isArray(value)) return value.map(out)
    return isPlain(value) ? fields(value, out) : value
  }
  const into = (value) => {
    if (Array.isArray(value)) return value.map(into)
    if (!isPlain(value)) return value
    if ('$function' in value)
      return (...values) => void post({ kind: 'callback', id: value.$function, values: out(values) })
    return fields(value, into)
  }
  window.addEventListener(`${secret}:isolated`, ({ detail }) => {
    if (detail.kind === 'open') return toMainProcess(JSON.stringify(detail))
    try {
      post({ kind: 'answer', value: out(functions.get(detail.id)(...into(detail.values))) })
    } catch (error) {
      post({ kind: 'answer', error: out(error) })
    }
  })

  const send = (message, values) =>
    toMainProcess(JSON.stringify({ ...message, values: encode(structuredClone(values)) }))
  const strict = (name, object) =>
    new Proxy(object, {
      get(target, property) {
        if (typeof property === 'symbol' || property in target) return target[property]
        throw new Error(`stand-in: ${name}.${property} is not modelled`)
      },
    })
  const ipcRenderer = strict('ipcRenderer', {
    invoke(channel, ...values) {
      return new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject, channel })
        send({ kind: 'invoke', id: last, channel }, values)
      })
    },
    on(channel, listener) {
      channels.set(channel, [...(channels.get(channel) ?? []), listener])
      return ipcRenderer
    },
  })
  const contextBridge = strict('contextBridge', {
    exposeInMainWorld: (key, api) => void post({ kind: 'expose', key, api: out(api) }),
  })
  globalThis.__standin = {
    settle(id, text, failure) {
      const { resolve, reject, channel } = waiting.get(id)
      waiting.delete(id)
      if (failure === null) resolve(decode(text))
      else reject(new Error(`Error invoking remote method '${channel}': ${failure}`))
    },
    push(channel, text) {
      for (const listener of channels.get(channel) ?? []) listener({ sender: ipcRenderer }, ...decode(text))
    },
  }
  const require = (name) => {
    // Message of a sandboxed preload.
    if (name !== 'electron') throw new Error(`module not found: ${name}`)
    return strict('electron', { contextBridge, ipcRenderer })
  }
  const module = { exports: {} }
  preload(require, module, module.exports, strict('process', { platform }))
}
