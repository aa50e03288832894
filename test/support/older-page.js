/* What pages on the browser SDKs 2.5 and 3.6 of the original platform do to reach its APIs. */

let calls = 0

/**
 * JSONP as in jQuery: a script element. jQuery replaces `callback=?` in the address; it keeps any other callback and appends its own.
 * Resolves to the data that the script passed to jQuery's function.
 */
function script(address) {
  const name = `jQuery1113021467${Date.now()}_${++calls}`
  const filled = address.includes('callback=?')
    ? address.replace('callback=?', `callback=${name}`)
    : `${address}${address.includes('?') ? '&' : '?'}callback=${name}`
  return load(name, `${filled}&_=${Date.now()}`)
}

/** Adds a script element whose address names the SDK's own function. */
function ownScript(address) {
  return load('test', `${address}&callback=test`)
}

function load(name, address) {
  return new Promise((resolve, reject) => {
    const element = document.createElement('script')
    window[name] = (answer) => resolve(answer)
    element.onerror = () => reject(new Error(`no script came from ${address}`))
    element.onload = () => reject(new Error(`the script did not call ${name}`))
    element.src = address
    document.head.append(element)
  })
}

/** Sends XMLHttpRequest across origins; with a `type`, a POST of `body`, which causes a preflight unless the type is that of a form. */
function ajax(address, body, type) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open(type === undefined ? 'GET' : 'POST', address)
    request.setRequestHeader('Accept', 'application/json, text/javascript, */*; q=0.01')
    if (type !== undefined) request.setRequestHeader('Content-Type', type)
    request.onload = () => resolve(JSON.parse(request.responseText))
    request.onerror = () => reject(new Error(`the browser kept the answer of ${address} from the page`))
    request.send(body)
  })
}

/** Reads an answer of the device operations as these SDKs do: any `result` other than 0 is a failure. */
function outcome(answer) {
  return answer.result === 0 ? { data: answer.data } : { failed: { code: answer.result, reason: answer.err } }
}

window.older = { script, ownScript, ajax, outcome }
