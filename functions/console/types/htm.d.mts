// The parts of htm that the page uses, for type checking.
declare const htm: { bind(h: any): (parts: TemplateStringsArray, ...given: any[]) => any };
export default htm;
