// happy-dom converts an element to text by serialising its content; a browser returns `[object HTMLDivElement]`. Popper converts each
// element up to the window for every placement, which took most of the time of the page tests.
if ('Element' in globalThis) Element.prototype.toString = Object.prototype.toString
